/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fundamental.h"

#include "standard_rate.h"

#include <math.h>

/* Lower rates than this are no thread's that belongs to a film: 24 Hz in 16 threads are 1.5 Hz. */
#define BASE_MIN_HZ 1.25
enum { PARTS_MAX = 160 }; /* PEAKS_TO_HZ / BASE_MIN_HZ */
/* Multiples nearer to each other than this, in units of near_hz, would be "near" whatever peak there is. */
static const double apart_min = 8;

/* A multiple is there if random events would make its power once in 20,000 times. */
static const double multiple_needed = 10;
/* A part of the fundamental adds no power but noise's; the fundamental of a pattern of events adds much. */
static const double nearly_all_power = 0.9;
/* 20 and 30 Hz at the same time fill 0.67 of the multiples of 10 Hz; two events a quarter period apart lack each fourth. */
static const double nearly_all_multiples = 0.7;

/* With jobs in fewer places of a grid the grid is a display's. A trace that loses 30 % of its events is broken. */
static const double few_places = 0.7;
static const double several_jobs = 1.5;
/* Lost events and noise move the mean rate away from the jobs' rate. */
static const double mean_error = 0.15;

/* The multiples of a frequency in the range of the spectrum. */
struct comb {
    double power;  /* of those that are there */
    int multiples; /* up to the strongest peak */
    int filled;    /* of these, those that are there */
};

static struct comb comb_of(const struct peaks *peaks, double base_hz, double strongest_hz)
{
    struct comb comb = {.power = 0};
    const double from_hz = PEAKS_FROM_HZ - peaks->near_hz, to_hz = PEAKS_TO_HZ + peaks->near_hz;
    for (int k = (int)ceil(from_hz / base_hz); k * base_hz <= to_hz; k++) {
        const double power = peaks_power_near(peaks, k * base_hz, peaks->near_hz);
        const bool is_there = power >= multiple_needed, is_lower = k * base_hz <= strongest_hz + peaks->near_hz;
        comb.power += is_there ? power : 0;
        comb.multiples += is_lower;
        comb.filled += is_lower && is_there;
    }
    return comb;
}

int fundamental_of(const struct peaks *peaks, double strongest_hz)
{
    double powers[PARTS_MAX + 1] = {0}, best = 0;
    const double least_hz = fmax(BASE_MIN_HZ, apart_min * peaks->near_hz);
    for (int n = 1; n <= PARTS_MAX && (n == 1 || strongest_hz / n >= least_hz); n++) {
        const struct comb comb = comb_of(peaks, strongest_hz / n, strongest_hz);
        if (comb.filled >= nearly_all_multiples * comb.multiples)
            powers[n] = comb.power;
        best = fmax(best, powers[n]);
    }
    for (int n = 1; n <= PARTS_MAX; n++)
        if (powers[n] > 0 && powers[n] >= nearly_all_power * best)
            return n;
    return 1;
}

static bool is_usual(double hz, double error_hz)
{
    return fabs(standard_rate_hz(standard_rate_nearest(hz)) - hz) <= error_hz;
}

bool fundamental_on_display(const struct peaks *peaks, double base_hz, double strongest_hz, double *hz)
{
    const double mean_hz = (double)(peaks->jobs->count - 1) / peaks->jobs->span_s;
    const bool is_empty = mean_hz < few_places * base_hz;
    const bool is_pattern = mean_hz > several_jobs * base_hz && strongest_hz > mean_hz / few_places &&
                            !is_usual(base_hz, peaks->near_hz);
    if (!is_empty && !is_pattern)
        return false;
    return peaks_find_near(peaks, mean_hz, mean_error * mean_hz, hz) && (is_empty || is_usual(*hz, peaks->near_hz));
}
