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
/* Of the observed time, for the standard error: 0.5 s of 4 s. */
enum { PARTS = 8 };
/* Where the fit begins: phases of 1/128 period, and rates up to 0.12 cycles of the observed time beside the peak. */
enum { PHASES = 128, STEPS = 6 };
static const double step_cycles = 0.02;
/* Fewer jobs at one phase may be there by chance. */
static const double many_jobs = 0.35, clearly_more = 1.25;
/* The trace's own clock is no better. */
static const double sd_min = 1e-6;

/* A regular train: its jobs are at the times where hz * time - phase is an integer. */
struct train {
    double hz;
    double phase;
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

/*
 * The least squares line through the deviations of jobs within a limit: at time s they are mean + slope * (s - mean_s). With too few
 * jobs within the limit, the spread is 0 and the line does not count.
 */
struct line {
    int64_t jobs;
    double mean_s;
    double mean;
    double slope;
    double spread; /* sum of (s - mean_s) squared */
};

static struct line line_through(const struct job_times *jobs, const struct train *train, double limit)
{
    double n = 0, t = 0, r = 0, tt = 0, tr = 0;
    for (int64_t i = 0; i < jobs->count; i++) {
        const double time = job_times_s(jobs, i), off = deviation(jobs, i, train);
        if (fabs(off) > limit)
            continue;
        n++;
        t += time;
        r += off;
        tt += time * time;
        tr += time * off;
    }
    const double spread = n > 2 ? tt - t * t / n : 0;
    if (spread <= 0)
        return (struct line){.jobs = (int64_t)n};
    return (struct line){
        .jobs = (int64_t)n, .mean_s = t / n, .mean = r / n, .slope = (tr - t * r / n) / spread, .spread = spread,
    };
}

static int part_of_time(const struct job_times *jobs, double time_s)
{
    const int part = (int)(PARTS * time_s / jobs->span_s);
    return part < PARTS ? part : PARTS - 1;
}

/*
 * Returns the standard error of the line's slope. Neighbouring jobs are late together if something else moves them, such as another
 * thread's period. So the jobs of one part of the time count together (a cluster-robust standard error: Liang and Zeger 1986). With
 * few parts that is too small by what the line has adapted to them: two of their number.
 */
static double slope_sd(const struct job_times *jobs, const struct train *train, double limit, const struct line *line)
{
    double scores[PARTS] = {0}, squares = 0, scores_squared = 0;
    int parts = 0;
    for (int64_t i = 0; i < jobs->count; i++) {
        const double time = job_times_s(jobs, i), off = deviation(jobs, i, train);
        if (fabs(off) > limit)
            continue;
        const double from_mean = time - line->mean_s, rest = off - line->mean - line->slope * from_mean;
        scores[part_of_time(jobs, time)] += from_mean * rest;
        squares += rest * rest;
    }
    for (int part = 0; part < PARTS; part++) {
        parts += scores[part] != 0;
        scores_squared += scores[part] * scores[part];
    }
    const double each_alone = sqrt(squares / ((double)line->jobs - 2) / line->spread);
    const double in_parts = parts > 2 ? sqrt(scores_squared * parts / (parts - 2)) / line->spread : 0;
    return fmax(each_alone, in_parts);
}

/* The regression counts jobs within this deviation. */
static double limit_of(const struct job_times *jobs, const struct train *train, double *deviations)
{
    for (int64_t i = 0; i < jobs->count; i++)
        deviations[i] = fabs(deviation(jobs, i, train));
    const double limit = sd_counted * sd_of_median * typical_deviation(deviations, jobs->count);
    return fmin(counted_max, fmax(counted_min, limit));
}

/* Sets the train's phase to the one that most jobs have, within a step, and returns their number. */
static int64_t to_commonest_phase(struct train *train, const struct job_times *jobs)
{
    int64_t counts[PHASES] = {0}, most = 0;
    for (int64_t i = 0; i < jobs->count; i++) {
        const double periods = train->hz * job_times_s(jobs, i);
        counts[(int)(PHASES * (periods - floor(periods))) % PHASES]++;
    }
    for (int phase = 0; phase < PHASES; phase++) {
        const int64_t here = counts[phase] + counts[(phase + 1) % PHASES];
        if (here <= most)
            continue;
        most = here;
        train->phase = (phase + 1.0) / PHASES;
    }
    return most;
}

/*
 * The jobs of another train may pass by the train's own phase slowly. The spectrum's peak is at the mean of both then, and the
 * regression would stay there. If at a rate beside the peak clearly more jobs have one phase exactly, the fit begins with that.
 */
static void begin_at_commonest_phase(struct train *train, const struct job_times *jobs)
{
    struct train begin = *train;
    struct train at_peak = *train;
    double needed = fmax(many_jobs * (double)jobs->count, clearly_more * (double)to_commonest_phase(&at_peak, jobs));
    for (int step = -STEPS; step <= STEPS; step++) {
        struct train beside = {.hz = train->hz + step * step_cycles / jobs->span_s};
        const double found = (double)to_commonest_phase(&beside, jobs);
        if (found <= needed)
            continue;
        needed = found;
        begin = beside;
    }
    *train = begin;
}

struct phase_fit phase_fit(const struct job_times *jobs, double hz, double *deviations)
{
    struct phase_fit fit = {.sd_hz = 0};
    struct train train = {.hz = hz, .phase = job_times_phase(jobs, hz, &fit.concentration)};
    begin_at_commonest_phase(&train, jobs);
    for (int round = 1; round <= ROUNDS; round++) {
        const double limit = limit_of(jobs, &train, deviations);
        const struct line line = line_through(jobs, &train, limit);
        if (round == ROUNDS)
            fit.sd_hz = line.spread > 0 ? slope_sd(jobs, &train, limit, &line) : train.hz;
        train.phase += line.mean - line.slope * line.mean_s;
        train.hz -= line.slope; /* deviations that grow are those of a rate that is too high */
    }
    fit.hz = train.hz;
    fit.sd_hz = fmax(fit.sd_hz, sd_min * train.hz);
    job_times_phase(jobs, fit.hz, &fit.concentration);
    return fit;
}
