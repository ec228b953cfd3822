/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fundamental.h"

#include "standard_rate.h"

#include <math.h>

enum { PARTS_MAX = (int)(PEAKS_TO_HZ / PEAKS_FROM_HZ) };

/* A multiple is there if random events would make its power once in 20,000 times. */
static const double multiple_needed = 10;
/* A part of the fundamental adds no power but noise's; the fundamental of a pattern of events adds much. */
static const double nearly_all_power = 0.9;
/* 20 and 30 Hz at the same time fill 0.67 of the multiples of 10 Hz; two events a quarter period apart lack each fourth. */
static const double nearly_all_multiples = 0.7;

/* Less than this part of the places of a grid have a job. More may be lost in a trace than 0.7 leaves only if it is broken. */
static const double few_places = 0.7;
static const double several_jobs = 1.5;
/* Lost events and noise move the mean rate away from the jobs' rate. */
static const double mean_error = 0.15;

struct comb {
    double power;
    int filled; /* multiples that are there, up to the strongest peak */
};

static struct comb comb_of(const struct peaks *peaks, double base_hz, double strongest_hz)
{
    struct comb comb = {.power = 0};
    for (int k = 1; k * base_hz <= PEAKS_TO_HZ + peaks->near_hz; k++) {
        const double power = peaks_power_near(peaks, k * base_hz, peaks->near_hz);
        if (power < multiple_needed)
            continue;
        comb.power += power;
        comb.filled += k * base_hz <= strongest_hz + peaks->near_hz;
    }
    return comb;
}

int fundamental_of(const struct peaks *peaks, double strongest_hz)
{
    double powers[PARTS_MAX + 1] = {0}, best = 0;
    for (int n = 1; n <= PARTS_MAX && strongest_hz / n >= PEAKS_FROM_HZ - peaks->near_hz; n++) {
        const struct comb comb = comb_of(peaks, strongest_hz / n, strongest_hz);
        if (comb.filled >= nearly_all_multiples * n)
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
    const bool empty = mean_hz < few_places * base_hz;
    const bool pattern = mean_hz > several_jobs * base_hz && strongest_hz > mean_hz / few_places &&
                         !is_usual(base_hz, peaks->near_hz);
    if (!empty && !pattern)
        return false;
    return peaks_find_near(peaks, mean_hz, mean_error * mean_hz, hz) && (empty || is_usual(*hz, peaks->near_hz));
}
