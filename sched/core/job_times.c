/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "job_times.h"

#include "ns.h"

#include <math.h>

static const int64_t job_gap_ns = 2 * NS_PER_MS;

struct job_times job_times_of(int64_t *times_ns, const struct thread_event *events, int64_t count)
{
    struct job_times jobs = {.times_ns = times_ns};
    for (int64_t i = 0; i < count && jobs.count < PERIOD_JOBS_MAX; i++) {
        const int64_t time_ns = events[i].time_ns;
        if (events[count - 1].time_ns - time_ns > PERIOD_OBSERVED_MAX_NS)
            continue;
        if (!jobs.count || time_ns - times_ns[jobs.count - 1] >= job_gap_ns)
            times_ns[jobs.count++] = time_ns;
    }
    if (jobs.count)
        jobs.span_s = job_times_s(&jobs, jobs.count - 1);
    return jobs;
}

double job_times_s(const struct job_times *jobs, int64_t job)
{
    return ns_to_s(jobs->times_ns[job] - jobs->times_ns[0]);
}

double job_times_phase(const struct job_times *jobs, double hz, double *concentration)
{
    double re = 0, im = 0;
    for (int64_t i = 0; i < jobs->count; i++) {
        const double angle = 2 * M_PI * hz * job_times_s(jobs, i);
        re += cos(angle);
        im += sin(angle);
    }
    *concentration = hypot(re, im) / (double)jobs->count;
    return atan2(im, re) / (2 * M_PI);
}
