/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "video_sink.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "video_driver.h"

static const struct video_driver *find_driver(const char *kind)
{
    static const struct video_driver *const drivers[] = {&video_sdl, &video_null};
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++)
        if (!strcmp(drivers[i]->kind, kind))
            return drivers[i];
    return NULL;
}

int video_sink_create(struct video_sink **out, const char *kind, const char *title, char *why,
                      size_t why_size)
{
    *out = NULL;
    const struct video_driver *const driver = find_driver(kind);
    if (!driver) {
        snprintf(why, why_size, "there is no video output named %s", kind);
        return -EINVAL;
    }
    return driver->create(out, title, why, why_size);
}

void video_sink_destroy(struct video_sink **sink)
{
    if (!sink || !*sink)
        return;
    (*sink)->driver->destroy(*sink);
    *sink = NULL;
}

void video_sink_set_title(struct video_sink *sink, const char *title)
{
    if (sink->driver->set_title)
        sink->driver->set_title(sink, title);
}

int video_sink_draw(struct video_sink *sink, const AVFrame *picture)
{
    return sink->driver->draw(sink, picture);
}

int video_sink_flip(struct video_sink *sink)
{
    const int ret = sink->driver->flip(sink);
    if (ret == 0)
        sink->shown++;
    return ret;
}

int video_sink_show(struct video_sink *sink, const AVFrame *picture)
{
    const int ret = video_sink_draw(sink, picture);
    return ret < 0 ? ret : video_sink_flip(sink);
}

enum input video_sink_poll(struct video_sink *sink)
{
    return sink->driver->poll ? sink->driver->poll(sink) : INPUT_NONE;
}

int video_sink_wake_fd(const struct video_sink *sink)
{
    return sink->driver->wake_fd ? sink->driver->wake_fd(sink) : -1;
}

int64_t video_sink_shown(const struct video_sink *sink)
{
    return sink->shown;
}

const char *video_sink_error(const struct video_sink *sink)
{
    return sink->error;
}

const char *video_sink_kind(const struct video_sink *sink)
{
    return sink->driver->kind;
}
