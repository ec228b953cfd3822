/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the decode stage gets from the presenter: the clock, what presenting takes, which pictures came too late, and how much CPU time
 * the program may use. Plain data; times are in ns.
 */
#ifndef PLAYER_STAGE_CLOCK_H
#define PLAYER_STAGE_CLOCK_H

#include "cpu_limits.h"
#include "sync.h"

#include <stdbool.h>
#include <stdint.h>

/* The decode stage looks before each packet, and a window (window.h) is not longer than WINDOW_MAX pictures. */
enum { LATE_PICTURES_MAX = 64 };

/* Pictures that were decoded and not shown. */
struct late_pictures {
    int64_t count;                      /* of all so far */
    int64_t numbers[LATE_PICTURES_MAX]; /* of their jobs; the n-th one is at n modulo the length */
};

struct stage_clock {
    struct sync sync;
    int segment;                   /* of the pictures to which the clock belongs: that of the last one that was presented */
    bool sound_plays;              /* and sets the clock */
    int64_t presenting_ns;         /* what presenting a picture takes, on average */
    int64_t presenting_cpu_ns;     /* the CPU time of that */
    int64_t presenting_all_cpu_ns; /* of all pictures so far */
    struct late_pictures late;
    struct cpu_limits limits;
};

#endif
