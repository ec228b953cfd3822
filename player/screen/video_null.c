/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ideal screen: each picture counts as shown at once, at no cost. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "video_driver.h"

static int null_create(struct video_sink **out, const char *title, char *why, size_t why_size)
{
    (void)title;
    struct video_sink *const sink = calloc(1, sizeof *sink);
    if (!sink) {
        snprintf(why, why_size, "out of memory");
        return -ENOMEM;
    }
    sink->driver = &video_null;
    *out = sink;
    return 0;
}

static void null_destroy(struct video_sink *sink)
{
    free(sink);
}

static int null_draw(struct video_sink *sink, const AVFrame *picture)
{
    (void)sink;
    (void)picture;
    return 0;
}

static int null_flip(struct video_sink *sink)
{
    (void)sink;
    return 0;
}

const struct video_driver video_null = {
    .kind = "null",
    .create = null_create,
    .destroy = null_destroy,
    .draw = null_draw,
    .flip = null_flip,
};
