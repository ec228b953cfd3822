/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "audio_sink.h"

#include <dlex/dlex.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "audio_driver.h"

static const struct audio_driver *find_driver(const char *kind)
{
    static const struct audio_driver *const drivers[] = {&audio_pulse, &audio_null};
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++)
        if (!strcmp(drivers[i]->kind, kind))
            return drivers[i];
    return NULL;
}

int audio_sink_create(struct audio_sink **out, const char *kind, const struct audio_format *format,
                      char *why, size_t why_size)
{
    *out = NULL;
    const struct audio_driver *const driver = find_driver(kind);
    if (!driver) {
        snprintf(why, why_size, "there is no sound output named %s", kind);
        return -EINVAL;
    }
    if (format->channels < 1 || format->channels > 2 || format->rate < 1000 ||
        format->rate > 384000) {
        snprintf(why, why_size, "%d channels at %d Hz cannot be played", format->channels,
                 format->rate);
        return -EINVAL;
    }
    return driver->create(out, format, why, why_size);
}

void audio_sink_destroy(struct audio_sink **sink)
{
    if (!sink || !*sink)
        return;
    (*sink)->driver->destroy(*sink);
    *sink = NULL;
}

void audio_sink_init(struct audio_sink *sink, const struct audio_driver *driver,
                     const struct audio_format *format)
{
    sink->driver = driver;
    sink->format = *format;
    playout_init(&sink->playout, format->rate);
    pthread_mutexattr_t inherit;
    pthread_mutexattr_init(&inherit);
    pthread_mutexattr_setprotocol(&inherit, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&sink->lock, &inherit);
    pthread_mutexattr_destroy(&inherit);
}

void audio_sink_finish(struct audio_sink *sink)
{
    pthread_mutex_destroy(&sink->lock);
}

void audio_sink_fail(struct audio_sink *sink, const char *cause)
{
    pthread_mutex_lock(&sink->lock);
    if (!sink->gone) {
        snprintf(sink->error, sizeof sink->error, "%s", cause);
        sink->gone = true;
    }
    pthread_mutex_unlock(&sink->lock);
}

int audio_sink_write(struct audio_sink *sink, const float *samples, int frames, int64_t pts_ns)
{
    return sink->driver->write(sink, samples, frames, pts_ns);
}

int audio_sink_heard(struct audio_sink *sink, int64_t *pts_ns)
{
    pthread_mutex_lock(&sink->lock);
    const int ret = sink->gone ? -EPIPE : playout_heard(&sink->playout, dlex_now_ns(), pts_ns);
    pthread_mutex_unlock(&sink->lock);
    return ret;
}

int audio_sink_begins(struct audio_sink *sink, int64_t *pts_ns)
{
    pthread_mutex_lock(&sink->lock);
    const int ret = sink->gone ? -EAGAIN : playout_begins(&sink->playout, dlex_now_ns(), pts_ns);
    pthread_mutex_unlock(&sink->lock);
    return ret;
}

bool audio_sink_answers_late(struct audio_sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    const bool late = !sink->gone && !sink->playout.running && playout_buffered(&sink->playout, dlex_now_ns()) > 0;
    pthread_mutex_unlock(&sink->lock);
    return late;
}

void audio_sink_pause(struct audio_sink *sink, bool paused)
{
    sink->driver->pause(sink, paused);
}

void audio_sink_flush(struct audio_sink *sink)
{
    sink->driver->flush(sink);
}

void audio_sink_interrupt(struct audio_sink *sink, bool on)
{
    sink->driver->interrupt(sink, on);
}

void audio_sink_give_up(struct audio_sink *sink, const char *cause)
{
    audio_sink_fail(sink, cause);
    sink->driver->interrupt(sink, true); /* wakes the writer */
}

int64_t audio_sink_buffered_ns(struct audio_sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    const struct playout *const playout = &sink->playout;
    const int64_t buffered_ns = sink->gone ? 0 : playout_ns(playout, playout_buffered(playout, dlex_now_ns()));
    pthread_mutex_unlock(&sink->lock);
    return buffered_ns;
}

bool audio_sink_drained(struct audio_sink *sink)
{
    return audio_sink_buffered_ns(sink) == 0;
}

const char *audio_sink_error(struct audio_sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    const bool gone = sink->gone;
    pthread_mutex_unlock(&sink->lock);
    return gone ? sink->error : NULL;
}

const char *audio_sink_kind(const struct audio_sink *sink)
{
    return sink->driver->kind;
}
