/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Refines a rate by regression of the jobs' phases over time. */
#ifndef SCHED_PHASE_FIT_H
#define SCHED_PHASE_FIT_H

#include "job_times.h"

struct phase_fit {
    double hz;
    double sd_hz;         /* standard error */
    double concentration; /* of the phases; see job_times_phase */
};

/*
 * Returns the refined rate. hz must be the maximum of the spectrum's peak, so that phases drift by a small part of a period
 * over the whole time. If, at a rate near hz, clearly more jobs share one phase, the fit begins there. Jobs whose phase lies more
 * than three standard deviations off do not count, because noise and a second rate would spoil the estimate; lost jobs cannot.
 * deviations: working memory, one number for each job. There are at least two jobs, not at the same time.
 */
struct phase_fit phase_fit(const struct job_times *jobs, double hz, double *deviations);

#endif
