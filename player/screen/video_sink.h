/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where pictures go, and the keys that come back from the window.
 *
 * Kinds:
 *   "sdl"    a window by SDL2. It is resizable, keeps the aspect (sample aspect ratio included), turns and mirrors pictures as
 *            their display matrix says, hides their edges (crop_left and the like), and does not wait for vsync. SDL's own variables SDL_VIDEODRIVER and SDL_RENDER_DRIVER
 *            work. Experiments set SDL_RENDER_DRIVER=software; swscale then draws in the calling
 *            thread. The default renderer may start its own threads (llvmpipe did).
 *   "null"   an ideal screen: takes each picture at once. No keys.
 *
 * Call all functions on the main thread: SDL must be used on the thread that initialised it.
 */
#ifndef PLAYER_VIDEO_SINK_H
#define PLAYER_VIDEO_SINK_H

#include <libavutil/frame.h>
#include <stddef.h>
#include <stdint.h>

#include "input.h"

struct video_sink;

/*
 * Opens a sink of that kind. A window stays hidden until its first picture. `title` is copied. Only
 * SDL's video is started: no sound, no signal handlers.
 *
 * Returns 0 and *out; the caller destroys it. Otherwise *out is NULL and why holds the cause, as a
 * phrase without full stop ("no display (DISPLAY and WAYLAND_DISPLAY are unset)"):
 *   -EINVAL      no such kind
 *   -ENODEV      no display, or no window or renderer on it
 *   -ENOMEM
 */
int video_sink_create(struct video_sink **out, const char *kind, const char *title, char *why,
                      size_t why_size);

/* Closes the window. Accepts NULL and an empty *sink; clears *sink. */
void video_sink_destroy(struct video_sink **sink);

/* Sets the title, for the next file in the same window. `title` is copied. */
void video_sink_set_title(struct video_sink *sink, const char *title);

/*
 * Draws the picture where it is not seen yet. The caller keeps owning the picture. A window may keep
 * a reference to its buffers until the next picture, to draw it again in another size, so the caller
 * must not write to them. The sink configures itself at the first picture and whenever size, format,
 * colours, aspect or orientation change. The window then takes the size of the picture. If the user has resized the window, it keeps
 * that size.
 *
 * Drawing takes some milliseconds, so a player that knows the picture early draws it before it is
 * due. If the window must be drawn anew in between, the picture is seen early.
 *
 * 8-bit 4:2:0 goes to a graphics card unchanged. Everything else, and everything that the CPU
 * draws, goes through swscale.
 *
 *   -EIO         the display refused it; video_sink_error says why; the next picture may be tried
 *   -ENOTSUP     there is no way to show this pixel format; video_sink_error says so
 *   -ENOMEM
 */
int video_sink_draw(struct video_sink *sink, const AVFrame *picture);

/*
 * Shows the picture that was drawn last, and returns when it has been handed to the display (flushed,
 * but not yet scanned out). Returns 0 or -EIO.
 */
int video_sink_flip(struct video_sink *sink);

/* Draws the picture and shows it at once. */
int video_sink_show(struct video_sink *sink, const AVFrame *picture);

/*
 * Returns the user's next request, or INPUT_NONE when there is none (left). Never blocks. Also
 * answers the window system, and redraws when the window was uncovered or resized. So call it
 * often, at least a few times a second, also while paused.
 */
enum input video_sink_poll(struct video_sink *sink);

/*
 * Returns a file descriptor that becomes readable when the window system sends something, such as a key, so that a wait
 * can end then; -1: there is none. Call video_sink_poll between any other call and the wait: what is already in memory
 * does not make it readable. Do not read it.
 */
int video_sink_wake_fd(const struct video_sink *sink);

/* Returns how many pictures were shown successfully. */
int64_t video_sink_shown(const struct video_sink *sink);

/*
 * Returns the cause of the last failure as a phrase without full stop, or "". The sink owns the
 * text.
 */
const char *video_sink_error(const struct video_sink *sink);

/* Returns the kind that the sink was created as. */
const char *video_sink_kind(const struct video_sink *sink);

#endif
