/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The spectrum of a series of events, each taken as a Dirac delta (seed 003, section IV, equations 3 and 4):
 *
 *     F(f) = | sum over i of exp(-j 2 pi f t_i) |
 *
 * An event moved by a constant time changes no modulus, so all times are taken from the first event on, where a double
 * resolves them well below a nanosecond. Power means F squared.
 */
#ifndef SCHED_SPECTRUM_H
#define SCHED_SPECTRUM_H

#include "fourier.h"

#include <stdint.h>

enum { SPECTRUM_MAX = 8192 };

/* A sampled spectrum: 640 KiB, which the caller holds. Point k is at from_hz + k * step_hz. */
struct spectrum {
    double from_hz;
    double step_hz;
    int count;
    double power[SPECTRUM_MAX];
    double scratch[SPECTRUM_MAX]; /* free for the caller's use after spectrum_sample */
    struct fourier fourier;       /* of spectrum_sample */
};

/*
 * Samples the spectrum of these events at `points` frequencies. The error of F is below 1e-7 of `count`, the highest value that F can
 * have. It takes some 60 us for 3000 points, and 0.1 us for each event. 1 <= points <= SPECTRUM_MAX, count >= 1.
 */
void spectrum_sample(struct spectrum *spectrum, const int64_t *times_ns, int64_t count, double from_hz, double step_hz,
                     int points);

/* Returns the frequency of a point. */
double spectrum_hz(const struct spectrum *spectrum, int point);

/* Returns the point nearest to a frequency; one of the ends if the frequency lies outside. */
int spectrum_point(const struct spectrum *spectrum, double hz);

/* Returns the power at one frequency, computed from the events. */
double spectrum_power_at(const int64_t *times_ns, int64_t count, double hz);

/*
 * Returns where within hz +/- within_hz the power is highest, to 10 uHz. The power must have a single maximum there: the
 * main lobe of a peak is 1/span to either side, where span is the time from the first event to the last.
 */
double spectrum_summit_hz(const int64_t *times_ns, int64_t count, double hz, double within_hz);

#endif
