/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "wake_lateness.h"

#include "job_times.h"
#include "ns.h"
#include "order_statistic.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { PERIODS_MIN = 20, PAIRS_MIN = 3 };
static const double in_time = 0.1;
static const double late = 0.95;
/* A period begins this part of it before the mean phase of the jobs, because late jobs are more than early ones. */
static const double early_part = 0.25;
static const double long_job_periods = 1.5;
static const int64_t pause_ns = NS_PER_S;
static const double clearly_less = 0.8;
static const double least_gain_ns = 1e5;
static const double agreeing_pairs = 0.8;

/* What a thread did in a window. */
struct wake_activity {
    int64_t blocked_ns;   /* since when it is blocked, after the jobs so far; at first the beginning of the window */
    int64_t late_periods; /* of long jobs */
    bool was_paused;
};

static void add_job(struct wake_activity *activity, double hz, int64_t begin_ns, int64_t end_ns)
{
    if (end_ns <= activity->blocked_ns)
        return;
    const int64_t from_ns = begin_ns > activity->blocked_ns ? begin_ns : activity->blocked_ns;
    const double lasted = hz * ns_to_s(end_ns - from_ns);
    if (begin_ns - activity->blocked_ns >= pause_ns)
        activity->was_paused = true;
    if (lasted > long_job_periods)
        activity->late_periods += (int64_t)lasted;
    activity->blocked_ns = end_ns;
}

static int64_t end_of(const struct thread_event *event)
{
    return event->end_ns > event->time_ns ? event->end_ns : event->time_ns;
}

static struct wake_activity activity_since(const struct wake_window *window, int64_t begin_ns)
{
    struct wake_activity activity = {.blocked_ns = begin_ns};
    for (int64_t i = 0; i < window->count; i++)
        add_job(&activity, window->hz, window->events[i].time_ns, end_of(&window->events[i]));
    add_job(&activity, window->hz, window->unfinished_ns ? window->unfinished_ns : window->until_ns, window->until_ns);
    return activity;
}

/* Returns from when on a window counts. A job that goes on since before the switch began without reservations. */
static int64_t begin_of(const struct wake_window *window)
{
    for (int64_t i = 0; i < window->count && window->events[i].time_ns < window->switched_ns; i++)
        if (end_of(&window->events[i]) > window->from_ns)
            return end_of(&window->events[i]);
    return window->from_ns;
}

static struct job_times jobs_since(const struct wake_window *window, int64_t begin_ns, struct period_work *work)
{
    int64_t first = 0;
    while (first < window->count && window->events[first].time_ns < begin_ns)
        first++;
    return job_times_of(work->times_ns, first < window->count ? &window->events[first] : NULL, window->count - first);
}

/*
 * Writes how far the job of each period lies behind the mean phase, in periods, and returns the number of periods with a job.
 * The jobs are in ascending order, so that those of a period follow each other.
 */
static int64_t deviations_of(double *deviations, const struct job_times *jobs, double hz)
{
    if (!jobs->count)
        return 0;
    double concentration;
    const double phase = job_times_phase(jobs, hz, &concentration);
    double last_period = -INFINITY;
    int64_t count = 0;
    for (int64_t i = 0; i < jobs->count; i++) {
        const double position = hz * job_times_s(jobs, i) - phase;
        const double period = floor(position + early_part), deviation = position - period;
        if (period > last_period)
            deviations[count++] = deviation;
        else if (fabs(deviation) < fabs(deviations[count - 1]))
            deviations[count - 1] = deviation;
        last_period = period;
    }
    return count;
}

int wake_lateness(int64_t *late_ns, const struct wake_window *window, struct period_work *work)
{
    const int64_t begin_ns = begin_of(window);
    const struct wake_activity activity = activity_since(window, begin_ns);
    if (window->hz * ns_to_s(window->until_ns - window->from_ns) < PERIODS_MIN || activity.was_paused)
        return -ENODATA;
    const struct job_times jobs = jobs_since(window, begin_ns, work);
    double *const deviations = work->spectrum.scratch;
    const int64_t with_job = deviations_of(deviations, &jobs, window->hz);
    double late_periods = 1;
    if (with_job >= PERIODS_MIN) {
        const double in_time_periods = order_percentile(deviations, with_job, in_time);
        int64_t periods = with_job;
        while (periods < SPECTRUM_MAX && periods - with_job < activity.late_periods)
            deviations[periods++] = in_time_periods + 1;
        late_periods = order_percentile(deviations, periods, late) - in_time_periods;
    }
    *late_ns = (int64_t)(late_periods / window->hz * (double)NS_PER_S);
    return 0;
}

void wake_comparison_add(struct wake_comparison *comparison, int64_t with_ns, int64_t without_ns)
{
    if (comparison->pairs == WAKE_PAIRS_MAX)
        return;
    comparison->with_ns[comparison->pairs] = (double)with_ns;
    comparison->without_ns[comparison->pairs++] = (double)without_ns;
}

static double median(const double *values, int count)
{
    double copy[WAKE_PAIRS_MAX];
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
    int agreeing = 0;
    for (int i = 0; i < comparison->pairs; i++)
        agreeing += comparison->with_ns[i] < comparison->without_ns[i];
    return (double)agreeing / comparison->pairs;
}

struct wake_result wake_comparison_result(const struct wake_comparison *comparison)
{
    struct wake_result result = {.verdict = WAKE_TOO_FEW};
    if (comparison->pairs < PAIRS_MIN)
        return result;
    result.with_ns = median(comparison->with_ns, comparison->pairs);
    result.without_ns = median(comparison->without_ns, comparison->pairs);
    const double for_it = pairs_for(comparison);
    result.verdict = WAKE_NO_DIFFERENCE;
    if (is_clearly_less(result.with_ns, result.without_ns) && for_it >= agreeing_pairs)
        result.verdict = WAKE_HELPED;
    else if (is_clearly_less(result.without_ns, result.with_ns) && 1 - for_it >= agreeing_pairs)
        result.verdict = WAKE_HARMED;
    return result;
}
