/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tones of a stamped clip's sound (media/stamps.py): each quarter of a second contains 40 ms of a frequency that
 * identifies the quarter. The tones are found while the sound comes in, in memory reserved beforehand.
 *
 * The place of a tone is the middle between the two points where it reaches half its level, less 20 ms. An encoder, a
 * resampler or a filter smears both ends alike, so its effect cancels out. A tone that is not 40 ms long was cut (by an
 * underrun, or the start of a device) and gives no place.
 */
#ifndef OBSERVER_BURST_H
#define OBSERVER_BURST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BURST_TONES = 80 };

/* The time from one tone to the next, and the time from the beginning of a quarter to its tone. */
extern const int64_t burst_period_ns;
extern const int64_t burst_offset_ns;

struct burst {
    double begin_frame; /* where the tone begins, in frames of the stream */
    int tone;           /* the quarter of a second, modulo BURST_TONES */
};

struct burst_finder {
    int rate;
    void (*found)(void *opaque, const struct burst *burst);
    void *opaque;
    float *ring;         /* the last ring_size frames; a power of two */
    int64_t ring_size;
    int64_t frames;      /* received so far */
    int64_t first_loud;  /* of the tone being received, or -1 */
    int64_t last_loud;
    double *level;       /* scratch: room for the envelope of a tone */
    int64_t level_room;
    int64_t odd;         /* sounds that were not a whole tone */
};

/*
 * burst_finder_feed calls found. Returns 0, -EINVAL (rate) or -ENOMEM. burst_finder_finish accepts a finder of zeros.
 */
int burst_finder_init(struct burst_finder *finder, int rate, void (*found)(void *, const struct burst *), void *opaque);
void burst_finder_finish(struct burst_finder *finder);

/* Takes count frames of one channel, -1 to 1. samples NULL: a hole of count frames, treated as silence. */
void burst_finder_feed(struct burst_finder *finder, const float *samples, size_t count);

#endif
