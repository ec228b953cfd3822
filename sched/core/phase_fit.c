/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "phase_fit.h"

#include <math.h>
#include <stdint.h>

/* The standard deviation of a normal distribution in units of its median absolute deviation. */
static const double sd_of_median = 1.4826;
static const double sd_counted = 3;
/* Jobs of a train without any jitter would otherwise be excluded by rounding. */
static const double counted_min = 0.02;
/* Jobs further away from the mean phase than this are noise, whose density then is known everywhere. */
static const double far_off = 0.25;
static const double counted_max = 0.5;
/* The first round may count too many jobs, or lack some at the ends, where a wrong rate moves them out. */
enum { ROUNDS = 4, HALVINGS = 14 };
/* The trace's own clock is no better. */
static const double sd_min = 1e-6;

/* A regular train: its jobs are at the times where hz * time - phase is an integer. */
struct train {
    double hz;
    double phase;
    double hz_sd;
};

/* Returns how far a job is from the train, from -0.5 to 0.5 periods. */
static double deviation(const struct job_times *jobs, int64_t job, const struct train *train)
{
    const double periods = train->hz * job_times_s(jobs, job) - train->phase;
    return periods - floor(periods + 0.5);
}

static int64_t count_within(const double *deviations, int64_t count, double limit)
{
    int64_t within = 0;
    for (int64_t i = 0; i < count; i++)
        within += deviations[i] <= limit;
    return within;
}

/*
 * Returns the median absolute deviation of the train's own jobs. Jobs of another train, or noise, have any phase: as many as are
 * far off lie among the near ones, evenly. More than half of all jobs may be such.
 */
static double typical_deviation(const double *deviations, int64_t count)
{
    const double others = (double)(count - count_within(deviations, count, far_off));
    const double own = (double)count - 2 * others;
    if (own <= 0)
        return far_off;
    double low = 0, high = far_off;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (low + high) / 2;
        const double within = (double)count_within(deviations, count, middle) - others * middle / far_off;
        if (within < own / 2)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Moves the train onto the least squares line through the deviations within the limit. */
static void fit_line(struct train *train, const struct job_times *jobs, double limit)
{
    double n = 0, t = 0, r = 0, tt = 0, tr = 0, rr = 0;
    for (int64_t i = 0; i < jobs->count; i++) {
        const double time = job_times_s(jobs, i), off = deviation(jobs, i, train);
        if (fabs(off) > limit)
            continue;
        n++;
        t += time;
        r += off;
        tt += time * time;
        tr += time * off;
        rr += off * off;
    }
    const double spread = n > 2 ? tt - t * t / n : 0;
    if (spread <= 0) {
        train->hz_sd = train->hz;
        return;
    }
    const double slope = (tr - t * r / n) / spread;
    const double squares = fmax(0, rr - r * r / n - slope * (tr - t * r / n));
    train->phase += r / n - slope * t / n;
    train->hz -= slope; /* deviations that grow are those of a rate that is too high */
    train->hz_sd = sqrt(squares / (n - 2) / spread);
}

struct phase_fit phase_fit(const struct job_times *jobs, double hz, double *deviations)
{
    struct phase_fit fit;
    struct train train = {.hz = hz, .phase = job_times_phase(jobs, hz, &fit.concentration)};
    for (int round = 0; round < ROUNDS; round++) {
        for (int64_t i = 0; i < jobs->count; i++)
            deviations[i] = fabs(deviation(jobs, i, &train));
        const double limit = sd_counted * sd_of_median * typical_deviation(deviations, jobs->count);
        fit_line(&train, jobs, fmin(counted_max, fmax(counted_min, limit)));
    }
    fit.hz = train.hz;
    fit.sd_hz = fmax(train.hz_sd, sd_min * train.hz);
    job_times_phase(jobs, fit.hz, &fit.concentration);
    return fit;
}
