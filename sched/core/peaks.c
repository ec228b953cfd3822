/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "peaks.h"

#include "order_statistic.h"

#include <math.h>

/* Between two points of the grid a peak loses 5 % at most. */
static const double points_per_lobe = 4;
/*
 * The power of N random events at one frequency, divided by N, exceeds z with the probability exp(-z). The range has
 * span * 195 Hz independent frequencies, and a grid this fine gives each three chances. (Jobs that cannot be less than 2 ms
 * apart are a little more regular than random ones at high rates; that lowers the power in the whole range.)
 */
static const double false_alarms = 1e-5;
static const double chances = 3;
/* Side lobes further away have less than 1/200 of the peak's power. */
static const double side_lobes = 4;

double peaks_needed(const struct job_times *jobs)
{
    return log(jobs->span_s * (PEAKS_TO_HZ - PEAKS_FROM_HZ) * chances / false_alarms);
}

void peaks_init(struct peaks *peaks, const struct job_times *jobs, struct spectrum *spectrum)
{
    const double step_hz = 1 / (points_per_lobe * jobs->span_s);
    const double points = floor((PEAKS_TO_HZ - PEAKS_FROM_HZ) / step_hz) + 1;
    spectrum_sample(spectrum, jobs->times_ns, jobs->count, PEAKS_FROM_HZ, step_hz, (int)fmin(points, SPECTRUM_MAX));
    for (int k = 0; k < spectrum->count; k++)
        spectrum->scratch[k] = spectrum->power[k];
    /* Events that come in groups of b make b times the power, at all frequencies. The median of exp(-z) is ln 2. */
    const double unit = fmax((double)jobs->count, order_percentile(spectrum->scratch, spectrum->count, 0.5) / M_LN2);
    for (int k = 0; k < spectrum->count; k++)
        spectrum->power[k] /= unit;
    *peaks = (struct peaks){
        .jobs = jobs,
        .spectrum = spectrum,
        .needed = peaks_needed(jobs),
        .near_hz = 0.5 / jobs->span_s,
    };
}

/* Returns the point with the highest power of those from `from` to `to`. */
static int highest(const struct spectrum *spectrum, int from, int to)
{
    int best = from;
    for (int k = from + 1; k <= to; k++)
        if (spectrum->power[k] > spectrum->power[best])
            best = k;
    return best;
}

static int highest_near(const struct spectrum *spectrum, double hz, double within_hz)
{
    return highest(spectrum, spectrum_point(spectrum, hz - within_hz), spectrum_point(spectrum, hz + within_hz));
}

static double summit_hz(const struct peaks *peaks, int point)
{
    return spectrum_summit_hz(peaks->jobs->times_ns, peaks->jobs->count, spectrum_hz(peaks->spectrum, point),
                              peaks->spectrum->step_hz);
}

bool peaks_strongest(const struct peaks *peaks, double least, double *hz, double *power)
{
    const int point = highest(peaks->spectrum, 0, peaks->spectrum->count - 1);
    *power = peaks->spectrum->power[point];
    if (*power < least)
        return false;
    *hz = summit_hz(peaks, point);
    return true;
}

double peaks_power_near(const struct peaks *peaks, double hz, double within_hz)
{
    return peaks->spectrum->power[highest_near(peaks->spectrum, hz, within_hz)];
}

bool peaks_find_near(const struct peaks *peaks, double hz, double within_hz, double *found_hz)
{
    const int point = highest_near(peaks->spectrum, hz, within_hz);
    if (peaks->spectrum->power[point] < peaks->needed)
        return false;
    *found_hz = summit_hz(peaks, point);
    return true;
}

void peaks_remove(struct peaks *peaks, double base_hz)
{
    struct spectrum *const spectrum = peaks->spectrum;
    const double within_hz = side_lobes / peaks->jobs->span_s;
    for (int k = 0; k < spectrum->count; k++) {
        const double hz = spectrum_hz(spectrum, k);
        const double multiple = fmax(1, floor(hz / base_hz + 0.5));
        if (fabs(hz - multiple * base_hz) <= within_hz)
            spectrum->power[k] = 0;
    }
}
