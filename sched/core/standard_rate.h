/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The usual picture rates, and which of them a measured rate is. */
#ifndef SCHED_STANDARD_RATE_H
#define SCHED_STANDARD_RATE_H

#include <stdbool.h>

/* A rate in pictures per second as a fraction, such as 24000/1001. numerator 0: none. */
struct standard_rate {
    int numerator;
    int denominator;
};

double standard_rate_hz(struct standard_rate rate);

/* Returns the usual rate nearest to hz. hz > 0. */
struct standard_rate standard_rate_nearest(double hz);

/*
 * Returns the usual rate that this measurement is, or none: if no usual rate is near enough, or if the measurement cannot
 * decide between two. sd_hz is the measurement's standard error; a longer observation makes it smaller.
 */
struct standard_rate standard_rate_of(double hz, double sd_hz);

/* True if two measured rates can be the same rate. */
bool standard_rate_same(double hz, double sd_hz, double other_hz, double other_sd_hz);

#endif
