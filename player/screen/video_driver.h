/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What video_sink.c and the kinds of sinks share; no other file includes this. */
#ifndef PLAYER_VIDEO_DRIVER_H
#define PLAYER_VIDEO_DRIVER_H

#include "video_sink.h"

/* Each driver embeds this struct as its first member and allocates it zeroed. */
struct video_sink {
    const struct video_driver *driver;
    int64_t shown;
    char error[160];
};

/*
 * video_sink.h specifies the functions of the same names. set_title, poll and wake_fd may be NULL.
 */
struct video_driver {
    const char *kind;
    /* Allocates *out and sets its driver. On failure frees everything and leaves *out NULL. */
    int (*create)(struct video_sink **out, const char *title, char *why, size_t why_size);
    void (*destroy)(struct video_sink *sink);
    void (*set_title)(struct video_sink *sink, const char *title);
    int (*draw)(struct video_sink *sink, const AVFrame *picture);
    int (*flip)(struct video_sink *sink);
    enum input (*poll)(struct video_sink *sink);
    int (*wake_fd)(const struct video_sink *sink);
};

extern const struct video_driver video_null;
extern const struct video_driver video_sdl;

#endif
