/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tolerance.h: finds from n samples of a duration the limit that a given part of all future ones may
 * exceed.
 *
 * The limit is the one-sided upper tolerance limit. It needs no assumption on the shape of the
 * distribution, only that the samples are independent and the future is like them. It is the sample
 * with as many others above it as chance exceeds in at most 5 % of such experiments. So the true miss
 * ratio is at most the requested one in 95 of 100 programs that use such limits. The number above it is
 * binomially distributed (n samples, the ratio), which gives the rank.
 */
#ifndef DLEX_TOLERANCE_H
#define DLEX_TOLERANCE_H

#include <stdint.h>

#define TOLERANCE_DOUBT 0.05

/* Returns how many of n samples may lie above the limit for this miss ratio (between 0 and 1,
 * exclusive); -1 if n samples are too few for any limit, even for their maximum to be one. */
int64_t dlex_tolerance_above(uint64_t samples, double ratio);

/* Returns the smallest number of samples for which there is a limit for this ratio: about 3 / ratio. */
uint64_t dlex_tolerance_samples(double ratio);

#endif
