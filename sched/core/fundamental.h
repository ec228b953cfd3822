/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which rate the peaks of a spectrum are multiples of. */
#ifndef SCHED_FUNDAMENTAL_H
#define SCHED_FUNDAMENTAL_H

#include "peaks.h"

#include <stdbool.h>

/*
 * Returns n: the strongest peak is the n-th multiple of the fundamental. Events of one rate have peaks at its multiples only,
 * so the fundamental is an integer part of the strongest peak. Every part of the fundamental explains the same peaks, but
 * with gaps; so do the common divisors of two rates. The fundamental is the highest rate that explains nearly as much as the
 * best one and whose multiples up to the strongest peak are nearly all there. It may be lower than the range of peaks: 4.8 Hz
 * has multiples from 9.6 Hz on.
 */
int fundamental_of(const struct peaks *peaks, double strongest_hz);

/*
 * Finds the rate of the jobs of a thread that works on the finer grid of a display: there are too few jobs for a grid of
 * base_hz, or more than one job in the period after which the pattern repeats (24 pictures per second on a display of 60 Hz:
 * 2 in 5 places). Returns false if the fundamental itself is the rate of the jobs.
 */
bool fundamental_on_display(const struct peaks *peaks, double base_hz, double strongest_hz, double *hz);

#endif
