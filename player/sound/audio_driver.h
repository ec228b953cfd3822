/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What audio_sink.c and the kinds of sinks share; no other file includes this.
 *
 * A driver embeds struct audio_sink as its first member and allocates it zeroed. audio_sink.c
 * implements what is the same for all kinds (heard, drained, error), using the playout model in
 * struct audio_sink.
 */
#ifndef PLAYER_AUDIO_DRIVER_H
#define PLAYER_AUDIO_DRIVER_H

#include <pthread.h>

#include "audio_sink.h"
#include "playout.h"

struct audio_sink {
    const struct audio_driver *driver;
    struct audio_format format;

    /*
     * Guards all fields below. Taken by main, by the sound thread and by PulseAudio's thread, never for
     * longer than a walk over a few segments. It is the innermost lock: no other lock is taken
     * under it. It inherits priority, so that main under SCHED_DEADLINE does not wait for a sound thread
     * that was preempted while holding it.
     */
    pthread_mutex_t lock;
    struct playout playout;
    bool paused;
    bool interrupted;
    bool gone;       /* the device is gone for good; set once, after error was written */
    char error[128]; /* constant once gone is set */
};

/*
 * audio_sink.h specifies the functions of the same names. They are called without the lock.
 */
struct audio_driver {
    const char *kind;
    /*
     * Allocates *out, calls audio_sink_init and opens the device. On failure frees everything and
     * leaves *out NULL.
     */
    int (*create)(struct audio_sink **out, const struct audio_format *format, char *why,
                  size_t why_size);
    void (*destroy)(struct audio_sink *sink);
    int (*write)(struct audio_sink *sink, const float *samples, int frames, int64_t pts_ns);
    void (*pause)(struct audio_sink *sink, bool paused);
    void (*flush)(struct audio_sink *sink);
    void (*interrupt)(struct audio_sink *sink, bool on);
};

extern const struct audio_driver audio_null;
extern const struct audio_driver audio_pulse;

/* Initialise and release struct audio_sink; the memory is zeroed before audio_sink_init. */
void audio_sink_init(struct audio_sink *sink, const struct audio_driver *driver,
                     const struct audio_format *format);
void audio_sink_finish(struct audio_sink *sink);

/* Any thread. Marks the device as gone; only the first cause is kept. */
void audio_sink_fail(struct audio_sink *sink, const char *cause);

#endif
