/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "standard_rate.h"

#include <math.h>
#include <stddef.h>

static const struct standard_rate usual[] = {
    {24000, 1001}, {24, 1}, {25, 1}, {30000, 1001}, {30, 1}, {48, 1}, {50, 1}, {60000, 1001}, {60, 1},
};
enum { USUAL = sizeof usual / sizeof usual[0] };

/*
 * How far a measurement may lie from the rate that it is. Clocks of sound cards, which players follow, are within 100 ppm
 * of the system's clock; neighbours such as 23.976 and 24 Hz are 1000 ppm apart.
 */
static const double clock_error = 2e-4;
static const double standard_errors = 3;

double standard_rate_hz(struct standard_rate rate)
{
    return rate.numerator ? (double)rate.numerator / rate.denominator : 0;
}

struct standard_rate standard_rate_nearest(double hz)
{
    struct standard_rate best = usual[0];
    for (size_t i = 1; i < USUAL; i++)
        if (fabs(standard_rate_hz(usual[i]) - hz) < fabs(standard_rate_hz(best) - hz))
            best = usual[i];
    return best;
}

struct standard_rate standard_rate_of(double hz, double sd_hz)
{
    struct standard_rate found = {0, 0};
    for (size_t i = 0; i < USUAL; i++) {
        if (!standard_rate_same(hz, sd_hz, standard_rate_hz(usual[i]), 0))
            continue;
        if (found.numerator)
            return (struct standard_rate){0, 0};
        found = usual[i];
    }
    return found;
}

bool standard_rate_same(double hz, double sd_hz, double other_hz, double other_sd_hz)
{
    return fabs(hz - other_hz) <= standard_errors * hypot(sd_hz, other_sd_hz) + clock_error * fmax(hz, other_hz);
}
