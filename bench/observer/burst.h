/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tones of a stamped clip's sound (media/stamps.py): in each quarter of a second 40 ms of a frequency that tells
 * which quarter it is. Found while the sound comes in, in memory reserved beforehand.
 *
 * A tone's place is the middle between the two points where it reaches half its level, less 20 ms: what an encoder, a
 * resampler or a filter smears over both ends alike falls out. Tones that are not 40 ms long are cut (an underrun, the
 * start of a device) and tell no place.
 */
#ifndef OBSERVER_BURST_H
#define OBSERVER_BURST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BURST_TONES = 80 };

/* From one tone to the next, and how far into its quarter each begins. */
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
    int64_t frames;      /* that came in so far */
    int64_t first_loud;  /* of the tone being heard, or -1 */
    int64_t last_loud;
    double *level;       /* scratch: room for the envelope of a tone */
    int64_t level_room;
    int64_t odd;         /* sounds that were no whole tone */
};

/* found is called from within burst_finder_feed. Returns 0, -EINVAL (rate) or -ENOMEM. finish accepts zeros. */
int burst_finder_init(struct burst_finder *finder, int rate, void (*found)(void *, const struct burst *), void *opaque);
void burst_finder_finish(struct burst_finder *finder);

/* One channel, -1 to 1. samples NULL: a hole of so many frames, taken as silence. */
void burst_finder_feed(struct burst_finder *finder, const float *samples, size_t count);

#endif
