/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When the jobs of a thread began, and their phases in a period. */
#ifndef SCHED_JOB_TIMES_H
#define SCHED_JOB_TIMES_H

#include "period.h"

#include <stdint.h>

struct job_times {
    const int64_t *times_ns; /* ascending */
    int64_t count;
    double span_s;           /* from the first to the last */
};

/*
 * Collects the jobs of the last 8 s into times_ns, which has PERIOD_JOBS_MAX places and must live as long as the result. An
 * event less than 2 ms after the beginning of a job belongs to that job.
 */
struct job_times job_times_of(int64_t *times_ns, const struct thread_event *events, int64_t count);

/* Returns the beginning of a job, in seconds from the first job's. */
double job_times_s(const struct job_times *jobs, int64_t job);

/*
 * Returns the mean phase of the jobs at this rate, in periods, from -0.5 to 0.5; the first job's time has the phase 0.
 * *concentration becomes the length of the mean vector: 1 if all phases are equal, near 0 if they are random.
 */
double job_times_phase(const struct job_times *jobs, double hz, double *concentration);

#endif
