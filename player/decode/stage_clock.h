/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the presenter tells the decode stage: the clock, and what presenting takes. Plain data; times are in ns. */
#ifndef PLAYER_STAGE_CLOCK_H
#define PLAYER_STAGE_CLOCK_H

#include "sync.h"

#include <stdbool.h>
#include <stdint.h>

struct stage_clock {
    struct sync sync;
    bool sound_plays;              /* and sets the clock */
    int64_t presenting_ns;         /* what presenting a picture takes, on average */
    int64_t presenting_cpu_ns;     /* the CPU time of that */
    int64_t presenting_all_cpu_ns; /* of all pictures so far */
};

#endif
