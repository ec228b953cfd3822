/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "phase_fit.h"

#include "order_statistic.h"

#include <math.h>
#include <stdint.h>

/* The standard deviation of a normal distribution in units of its median absolute deviation. */
static const double sd_of_median = 1.4826;
static const double sd_counted = 3;
/* Jobs of a train without any jitter would otherwise be excluded by rounding. */
static const double counted_min = 0.02;
/* The first round may lack jobs at the ends, where a wrong rate moves them out; the third changes nothing any more. */
enum { ROUNDS = 3 };
/* The trace's own clock is no better. */
static const double sd_min = 1e-6;

struct line {
    double slope;
    double slope_sd;
};

/* Returns a phase between -0.5 and 0.5 periods. */
static double wrapped(double periods)
{
    return periods - floor(periods + 0.5);
}

static double deviation(const struct job_times *jobs, int64_t job, double hz, double phase)
{
    return wrapped(hz * job_times_s(jobs, job) - phase);
}

static double typical_deviation(const struct job_times *jobs, double hz, double phase, double *deviations)
{
    for (int64_t i = 0; i < jobs->count; i++)
        deviations[i] = fabs(deviation(jobs, i, hz, phase));
    return sd_of_median * order_percentile(deviations, jobs->count, 0.5);
}

/* Least squares line through the phases, in periods per second, of the jobs within the limit. */
static struct line drift(const struct job_times *jobs, double hz, double phase, double limit)
{
    double n = 0, t = 0, r = 0, tt = 0, tr = 0, rr = 0;
    for (int64_t i = 0; i < jobs->count; i++) {
        const double time = job_times_s(jobs, i), residual = deviation(jobs, i, hz, phase);
        if (fabs(residual) > limit)
            continue;
        n++;
        t += time;
        r += residual;
        tt += time * time;
        tr += time * residual;
        rr += residual * residual;
    }
    const double spread = n > 2 ? tt - t * t / n : 0;
    if (spread <= 0)
        return (struct line){.slope = 0, .slope_sd = hz};
    const double slope = (tr - t * r / n) / spread;
    const double squares = fmax(0, rr - r * r / n - slope * (tr - t * r / n));
    return (struct line){.slope = slope, .slope_sd = sqrt(squares / (n - 2) / spread)};
}

struct phase_fit phase_fit(const struct job_times *jobs, double hz, double *deviations)
{
    struct phase_fit fit = {.hz = hz};
    for (int round = 0; round < ROUNDS; round++) {
        const double phase = job_times_phase(jobs, fit.hz, &fit.concentration);
        const double limit = fmax(counted_min, sd_counted * typical_deviation(jobs, fit.hz, phase, deviations));
        const struct line line = drift(jobs, fit.hz, phase, limit);
        fit.hz -= line.slope; /* phases that grow are those of a rate that is too high */
        fit.sd_hz = fmax(line.slope_sd, sd_min * fit.hz);
    }
    job_times_phase(jobs, fit.hz, &fit.concentration);
    return fit;
}
