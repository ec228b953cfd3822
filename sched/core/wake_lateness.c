/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "wake_lateness.h"

#include "job_times.h"
#include "ns.h"
#include "order_statistic.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { PERIODS_MIN = 20, WINDOWS_MIN = 3 };
static const double in_time = 0.1;
static const double late = 0.95;
static const double clearly_less = 0.8;
static const double least_gain_ns = 1e5;
static const double agreeing_pairs = 0.8;

/*
 * Writes how far the job of each period lies behind the mean phase, in periods, and returns the number of periods with a job.
 * The jobs are in ascending order, so that those of a period follow each other.
 */
static int64_t deviations_of(double *deviations, const struct job_times *jobs, double hz)
{
    double concentration;
    const double phase = job_times_phase(jobs, hz, &concentration);
    double last_period = -INFINITY;
    int64_t count = 0;
    for (int64_t i = 0; i < jobs->count; i++) {
        const double position = hz * job_times_s(jobs, i) - phase;
        const double period = floor(position + 0.5), deviation = position - period;
        if (period > last_period)
            deviations[count++] = deviation;
        else if (fabs(deviation) < fabs(deviations[count - 1]))
            deviations[count - 1] = deviation;
        last_period = period;
    }
    return count;
}

int wake_lateness(int64_t *late_ns, const struct thread_event *events, int64_t count, double hz, struct period_work *work)
{
    const struct job_times jobs = job_times_of(work->times_ns, events, count);
    if (jobs.count < PERIODS_MIN)
        return -ENODATA;
    double *const deviations = work->spectrum.scratch;
    const int64_t periods = deviations_of(deviations, &jobs, hz);
    if (periods < PERIODS_MIN)
        return -ENODATA;
    const double late_periods = order_percentile(deviations, periods, late) - order_percentile(deviations, periods, in_time);
    *late_ns = (int64_t)(late_periods / hz * (double)NS_PER_S);
    return 0;
}

void wake_comparison_add(struct wake_comparison *comparison, bool is_with, int64_t late_ns)
{
    int *const count = is_with ? &comparison->with : &comparison->without;
    if (*count < WAKE_WINDOWS_MAX)
        (is_with ? comparison->with_ns : comparison->without_ns)[(*count)++] = (double)late_ns;
}

static double median(const double *values, int count)
{
    double copy[WAKE_WINDOWS_MAX];
    memcpy(copy, values, (size_t)count * sizeof *values);
    return order_percentile(copy, count, 0.5);
}

static bool is_clearly_less(double less, double more)
{
    return less < clearly_less * more && more - less >= least_gain_ns;
}

/* Returns which part of the pairs has less lateness with reservations. */
static double pairs_for(const struct wake_comparison *comparison)
{
    const int pairs = comparison->with < comparison->without ? comparison->with : comparison->without;
    int agreeing = 0;
    for (int i = 0; i < pairs; i++)
        agreeing += comparison->with_ns[i] < comparison->without_ns[i];
    return (double)agreeing / pairs;
}

struct wake_result wake_comparison_result(const struct wake_comparison *comparison)
{
    struct wake_result result = {.verdict = WAKE_TOO_FEW};
    if (comparison->with < WINDOWS_MIN || comparison->without < WINDOWS_MIN)
        return result;
    result.with_ns = median(comparison->with_ns, comparison->with);
    result.without_ns = median(comparison->without_ns, comparison->without);
    const double for_it = pairs_for(comparison);
    result.verdict = WAKE_NO_DIFFERENCE;
    if (is_clearly_less(result.with_ns, result.without_ns) && for_it >= agreeing_pairs)
        result.verdict = WAKE_HELPED;
    else if (is_clearly_less(result.without_ns, result.with_ns) && 1 - for_it >= agreeing_pairs)
        result.verdict = WAKE_HARMED;
    return result;
}
