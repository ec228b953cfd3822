/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How far rule plan looks, and what it calls in time. Times are in ns. */
#ifndef PLAYER_PLAN_LIMITS_H
#define PLAYER_PLAN_LIMITS_H

#include "ns.h"

#include <stdint.h>

/*
 * The plan looks at twice as many packets as there is room for pictures, but at least at the first number and at most at
 * the second, and only at packets that have been read (3 to 5 s). In simulations of two clips, a longer horizon lost more
 * pictures. In one clip these had less value, in the other one they had not. Without a queue the horizon made no difference,
 * and nor did more than 125 packets at 25 pictures a second, because no more have been read.
 */
enum { PLAN_HORIZON_MIN = 25, PLAN_HORIZON_MAX = 200 };

/* The plan keeps this much in hand. 0 to 40 ms made no difference in simulations. */
enum { PLAN_MARGIN_NS = 10 * NS_PER_MS };

/* Returns until when, from now, the packets must be decoded that a picture waits for. */
static inline double plan_limit_ns(int64_t due_ns, int64_t tolerance_ns, int64_t now_ns)
{
    return (double)(due_ns + tolerance_ns - PLAN_MARGIN_NS - now_ns);
}

#endif
