/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which limits of CPU time a run had, for its record. Plain data; zero: none were seen. */
#ifndef PLAYER_LIMITS_HISTORY_H
#define PLAYER_LIMITS_HISTORY_H

#include "cpu_limits.h"

#include <stdint.h>

enum { LIMITS_HISTORY_MAX = 64 };

struct limits_history {
    int64_t count; /* of all; only the first LIMITS_HISTORY_MAX are kept */
    struct seen_limits {
        int64_t at_ns; /* CLOCK_MONOTONIC */
        struct cpu_limits limits;
    } seen[LIMITS_HISTORY_MAX];
};

/* The program has these limits from at_ns on, which is not before the last one's. */
static inline void limits_history_add(struct limits_history *history, const struct cpu_limits *limits, int64_t at_ns)
{
    if (history->count < LIMITS_HISTORY_MAX)
        history->seen[history->count] = (struct seen_limits){at_ns, *limits};
    history->count++;
}

#endif
