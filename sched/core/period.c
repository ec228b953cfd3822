/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "period.h"

#include "fundamental.h"
#include "job_times.h"
#include "ns.h"
#include "peaks.h"
#include "phase_fit.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { JOBS_MIN = 10 };
/* A shorter burst has the side of its peak at 0 Hz in the range of peaks. */
static const double cycles_min = 1.5; /* of the lowest rate of a peak */
/* A second rate is weaker than this part of the first one's power only as an artefact of it. */
static const double second_power = 0.1;
/* With fewer jobs than this, in units of what a perfect train needs, a real train may stay unnoticed. */
static const double jobs_for_verdict = 2;
/* Of period_part_of: how often random events pass for a part, and periods that must have been seen. */
static const double part_false_alarms = 1e-3;
static const double part_periods_min = 4;
/* Multiples of the rate have nearly as much power if jitter is small, so the largest part near the best one counts. */
static const double part_power = 0.8;
/* Periods are cut this part of a period before the jobs' mean phase. */
static const double cut_before = 0.25;
static const double long_job_periods = 1.5;

static bool is_ascending(const struct thread_event *events, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        if (events[i].time_ns < events[i - 1].time_ns)
            return false;
    return true;
}

/* Adds up the CPU time of the events from from_ns on and before until_ns. */
static int64_t cpu_between(const struct thread_event *events, int64_t count, int64_t from_ns, int64_t until_ns)
{
    int64_t cpu_ns = 0;
    for (int64_t i = 0; i < count; i++)
        if (events[i].time_ns >= from_ns && events[i].time_ns < until_ns)
            cpu_ns += events[i].cpu_ns;
    return cpu_ns;
}

/* The strongest peak is the aligned one: there most jobs have the same phase, also if a period has several jobs. */
static void add_rate(struct period *found, const struct peaks *peaks, double aligned_hz, int harmonic)
{
    const struct phase_fit fit = phase_fit(peaks->jobs, aligned_hz, peaks->spectrum->scratch);
    found->rate[found->rates++] = (struct thread_rate){
        .hz = fit.hz / harmonic, .sd_hz = fit.sd_hz / harmonic, .regularity = fit.concentration,
    };
}

static void find_rates(struct period *found, struct peaks *peaks)
{
    double least = peaks->needed, strongest_hz, power, display_hz;
    while (found->rates < PERIOD_RATES_MAX && peaks_strongest(peaks, least, &strongest_hz, &power)) {
        const int harmonic = fundamental_of(peaks, strongest_hz);
        const double base_hz = strongest_hz / harmonic;
        /* What is left of a display's grid is no second rate. */
        if (!found->rates && fundamental_on_display(peaks, base_hz, strongest_hz, &display_hz)) {
            add_rate(found, peaks, display_hz, 1);
            return;
        }
        add_rate(found, peaks, strongest_hz, harmonic);
        peaks_remove(peaks, base_hz);
        least = fmax(peaks->needed, second_power * power);
    }
}

int period_detect(struct period *found, const struct thread_event *events, int64_t count, int64_t window_ns,
                  struct period_work *work)
{
    *found = (struct period){.verdict = PERIOD_UNKNOWN};
    if (window_ns <= 0 || !is_ascending(events, count))
        return -EINVAL;
    found->cpu_share = (double)cpu_between(events, count, INT64_MIN, INT64_MAX) / (double)window_ns;
    const struct job_times jobs = job_times_of(work->times_ns, events, count);
    if (jobs.count < JOBS_MIN || jobs.span_s * PEAKS_FROM_HZ < cycles_min || (double)jobs.count < peaks_needed(&jobs))
        return 0;
    struct peaks peaks;
    peaks_init(&peaks, &jobs, &work->spectrum);
    find_rates(found, &peaks);
    if (found->rates) {
        const int64_t cpu_ns = cpu_between(events, count, jobs.times_ns[0], jobs.times_ns[jobs.count - 1]);
        found->verdict = PERIOD_FOUND;
        found->cpu_per_period_ns = (int64_t)((double)cpu_ns / (jobs.span_s * found->rate[0].hz));
    } else if ((double)jobs.count >= jobs_for_verdict * peaks.needed) {
        found->verdict = PERIOD_NONE;
    }
    return 0;
}

int period_part_of(const struct thread_event *events, int64_t count, double hz, int parts_max, struct period_work *work)
{
    const struct job_times jobs = job_times_of(work->times_ns, events, count);
    if (jobs.count < JOBS_MIN)
        return 0;
    double best = log(parts_max / part_false_alarms);
    int part = 0;
    for (int n = 1; n <= parts_max && hz / n * jobs.span_s >= part_periods_min; n++) {
        const double power = spectrum_power_at(jobs.times_ns, jobs.count, hz / n) / (double)jobs.count;
        if (power < (part ? part_power * best : best))
            continue;
        best = fmax(best, power);
        part = n;
    }
    return part;
}

/* Returns the number of the period that a time lies in. */
static int64_t period_number(const struct job_times *jobs, int64_t time_ns, double hz, double phase)
{
    return (int64_t)floor(hz * ns_to_s(time_ns - jobs->times_ns[0]) - phase + cut_before);
}

/* Returns in how many periods a job counts. */
static int64_t periods_of(const struct thread_event *event, double hz)
{
    const double lasted = event->end_ns > event->time_ns ? hz * ns_to_s(event->end_ns - event->time_ns) : 0;
    return lasted > long_job_periods ? (int64_t)ceil(lasted) : 1;
}

int64_t period_cpu(int64_t *cpu_ns, int64_t cpu_max, const struct thread_event *events, int64_t count, double hz,
                   struct period_work *work)
{
    const struct job_times jobs = job_times_of(work->times_ns, events, count);
    if (!jobs.count)
        return 0;
    double concentration;
    const double phase = job_times_phase(&jobs, hz, &concentration);
    const int64_t last = period_number(&jobs, events[count - 1].time_ns, hz, phase);
    int64_t first = period_number(&jobs, jobs.times_ns[0], hz, phase) + 1;
    if (first < last - cpu_max)
        first = last - cpu_max;
    if (first >= last)
        return 0;
    memset(cpu_ns, 0, (size_t)(last - first) * sizeof *cpu_ns);
    for (int64_t i = 0; i < count; i++) {
        const int64_t period = period_number(&jobs, events[i].time_ns, hz, phase);
        const int64_t parts = periods_of(&events[i], hz);
        for (int64_t part = 0; part < parts; part++)
            if (period + part >= first && period + part < last)
                cpu_ns[period + part - first] += events[i].cpu_ns / parts;
    }
    return last - first;
}
