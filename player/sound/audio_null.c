/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ideal sound card: the playout model on the real clock, with a buffer of one second. */
#include <dlex/dlex.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "audio_driver.h"
#include "ns.h"

struct audio_null {
    struct audio_sink sink;
    /*
     * Signals a blocked writer that paused, interrupted or the playout changed; on CLOCK_MONOTONIC.
     */
    pthread_cond_t change;
};

static struct audio_null *null_of(struct audio_sink *sink)
{
    return (struct audio_null *)sink;
}

static int null_create(struct audio_sink **out, const struct audio_format *format, char *why,
                       size_t why_size)
{
    struct audio_null *const null = calloc(1, sizeof *null);
    if (!null) {
        snprintf(why, why_size, "out of memory");
        return -ENOMEM;
    }
    audio_sink_init(&null->sink, &audio_null, format);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&null->change, &monotonic);
    pthread_condattr_destroy(&monotonic);
    *out = &null->sink;
    return 0;
}

static void null_destroy(struct audio_sink *sink)
{
    pthread_cond_destroy(&null_of(sink)->change);
    audio_sink_finish(sink);
    free(sink);
}

/* An empty card starts, or restarts, with the first sample that it gets. */
static void start_when_starved(struct audio_sink *sink, int64_t now_ns)
{
    if (!sink->paused && playout_buffered(&sink->playout, now_ns) == 0)
        playout_run(&sink->playout, sink->playout.written, now_ns);
}

static void wait_for_room(struct audio_null *null, int64_t missing_frames, int64_t now_ns)
{
    struct audio_sink *const sink = &null->sink;
    if (sink->paused) {
        pthread_cond_wait(&null->change, &sink->lock);
        return;
    }
    const int64_t until_ns = now_ns + playout_ns(&sink->playout, missing_frames) + 1;
    const struct timespec until = ns_to_timespec(until_ns);
    pthread_cond_timedwait(&null->change, &sink->lock, &until);
}

/*
 * A block larger than the buffer is written in pieces. The first piece has the PTS, and the others
 * follow on from it.
 */
static int null_write(struct audio_sink *sink, const float *samples, int frames, int64_t pts_ns)
{
    (void)samples;
    const int64_t capacity = sink->format.rate;
    pthread_mutex_lock(&sink->lock);
    while (frames > 0 && !sink->interrupted) {
        const int64_t now_ns = dlex_now_ns();
        const int64_t piece = frames < capacity / 2 ? frames : capacity / 2;
        const int64_t missing = playout_buffered(&sink->playout, now_ns) + piece - capacity;
        if (missing > 0) {
            wait_for_room(null_of(sink), missing, now_ns);
            continue;
        }
        start_when_starved(sink, now_ns);
        playout_append(&sink->playout, piece, pts_ns);
        pts_ns = AUDIO_PTS_UNKNOWN;
        frames -= piece;
    }
    const int ret = sink->interrupted ? -ECANCELED : 0;
    pthread_mutex_unlock(&sink->lock);
    return ret;
}

static void null_pause(struct audio_sink *sink, bool paused)
{
    pthread_mutex_lock(&sink->lock);
    const int64_t now_ns = dlex_now_ns();
    if (paused)
        playout_hold(&sink->playout, now_ns);
    else if (sink->paused)
        playout_run(&sink->playout, playout_position(&sink->playout, now_ns), now_ns);
    sink->paused = paused;
    pthread_cond_broadcast(&null_of(sink)->change);
    pthread_mutex_unlock(&sink->lock);
}

static void null_flush(struct audio_sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    playout_init(&sink->playout, sink->format.rate);
    pthread_cond_broadcast(&null_of(sink)->change);
    pthread_mutex_unlock(&sink->lock);
}

static void null_interrupt(struct audio_sink *sink, bool on)
{
    pthread_mutex_lock(&sink->lock);
    sink->interrupted = on;
    pthread_cond_broadcast(&null_of(sink)->change);
    pthread_mutex_unlock(&sink->lock);
}

const struct audio_driver audio_null = {
    .kind = "null",
    .create = null_create,
    .destroy = null_destroy,
    .write = null_write,
    .pause = null_pause,
    .flush = null_flush,
    .interrupt = null_interrupt,
};
