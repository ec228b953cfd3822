/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where pictures go, and the keys that come back from the window.
 *
 * Kinds:
 *   "sdl"    a window by SDL2. Resizable, keeps the aspect (sample aspect ratio included), does not
 *            wait for vsync. SDL_VIDEODRIVER and SDL_RENDER_DRIVER are SDL's own variables and
 *            work; experiments set SDL_RENDER_DRIVER=software, for which swscale draws in the
 *            calling thread: the default renderer may start threads of its own (llvmpipe
 *            did).
 *   "null"   an ideal screen: takes each picture at once. No keys.
 *
 * All functions belong to the main thread: SDL wants the thread that initialised it.
 */
#ifndef PLAYER_VIDEO_SINK_H
#define PLAYER_VIDEO_SINK_H

#include <libavutil/frame.h>
#include <stddef.h>
#include <stdint.h>

#include "input.h"

struct video_sink;

/*
 * Opens a sink of that kind; a window stays hidden until its first picture. `title` is copied. SDL
 * is started for video only: no sound, no signal handlers.
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

/* For the next file in the same window. `title` is copied. */
void video_sink_set_title(struct video_sink *sink, const char *title);

/*
 * Shows the picture and returns when it has been handed to the display (drawn and flushed; not:
 * scanned out). The picture stays the caller's; a window may keep a reference to its buffers until
 * the next picture, to draw it again in another size, so they are not to be written to. The sink
 * configures itself at the first picture and whenever size, format, colours or aspect change; a
 * size that the user gave the window stays.
 *
 * 8-bit 4:2:0 goes to a graphics card as it is; everything else, and all that the CPU draws,
 * through swscale.
 *
 *   -EIO         the display refused it; video_sink_error says why; the next picture may be tried
 *   -ENOTSUP     there is no way to show this pixel format; video_sink_error says so
 *   -ENOMEM
 */
int video_sink_show(struct video_sink *sink, const AVFrame *picture);

/*
 * The next thing the user asked for, INPUT_NONE when there is nothing (more). Never blocks; also
 * answers the window system and redraws when a part was uncovered or resized, so call it often, at
 * least some times a second, and while paused too.
 */
enum input video_sink_poll(struct video_sink *sink);

/* Pictures taken by video_sink_show with success. */
int64_t video_sink_shown(const struct video_sink *sink);

/* The cause of the last failure as a phrase without full stop, or "". Belongs to the sink. */
const char *video_sink_error(const struct video_sink *sink);

/* The kind it was created as. */
const char *video_sink_kind(const struct video_sink *sink);

#endif
