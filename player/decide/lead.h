/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long before a picture is due the screen must begin with it, learnt while playing. Handing a picture to an X server
 * took 1.3 ms for 1080p, and each picture was late by that. The functions are pure.
 *
 * The lead is the median of what showing took lately. The few pictures at which the program was halted do not move it far,
 * as they would move a mean: then the other pictures would be early.
 */
#ifndef PLAYER_LEAD_H
#define PLAYER_LEAD_H

#include <stdint.h>

/* Zeroed at the beginning. */
struct lead {
    int64_t ns; /* 0 to 5 ms */
};

/* Showing a picture took this long. */
void lead_learn(struct lead *lead, int64_t took_ns);

#endif
