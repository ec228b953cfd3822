/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * About how long a picture lasts: the time from one picture to the next.
 *
 * Files give absurd rates, and damaged ones give any. Much divides by this duration and multiplies it, so it has a type whose values
 * all lie between 10 us and a day. Also a struct of zeros holds such a value.
 */
#ifndef PLAYER_FRAME_DURATION_H
#define PLAYER_FRAME_DURATION_H

#include "ns.h"

#include <stdint.h>

#define FRAME_DURATION_MIN_NS (10 * NS_PER_US)
#define FRAME_DURATION_MAX_NS (24 * 3600 * NS_PER_S)

struct frame_duration {
    int64_t above_min_ns; /* 0 to FRAME_DURATION_MAX_NS - FRAME_DURATION_MIN_NS. Use the two functions below */
};

/* Returns the duration that is nearest to ns, which may have any value. */
static inline struct frame_duration frame_duration_of(int64_t ns)
{
    const int64_t limited_ns = ns < FRAME_DURATION_MIN_NS ? FRAME_DURATION_MIN_NS : ns;
    const int64_t max_ns = FRAME_DURATION_MAX_NS;
    return (struct frame_duration){(limited_ns > max_ns ? max_ns : limited_ns) - FRAME_DURATION_MIN_NS};
}

/* Returns the duration in ns, which is never 0. */
static inline int64_t frame_duration_ns(struct frame_duration duration)
{
    return FRAME_DURATION_MIN_NS + duration.above_min_ns;
}

#endif
