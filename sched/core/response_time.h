/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Schedulability of periodic tasks on one CPU under preemptive static priorities. Seed 004, section 3.1, promises a test in
 * its title and gives none. These are the field's: the utilisation bound of Liu and Layland (1973) and the response-time
 * analysis of Joseph and Pandya (1986) and Audsley et al. (1993). Tasks are independent, do not suspend themselves, and
 * have deadlines within their periods.
 */
#ifndef SCHED_RESPONSE_TIME_H
#define SCHED_RESPONSE_TIME_H

#include "rm_task.h"

/*
 * Computes the longest response time of a task: from its release to its end, if all tasks are released with it. It is exact
 * for tasks with a level of their own. Tasks that share a level are served first come first served; each is taken to
 * precede this one, which is never too short. Only costs of guaranteed tasks count, so `task` must be one of them.
 *
 * Returns 0 and *response_ns; or -EBUSY if it exceeds the deadline, with *response_ns a lower bound beyond the deadline; or
 * -EINVAL if a guaranteed task's values are out of range.
 */
int response_time(int64_t *response_ns, const struct rm_task *tasks, int count, int task);

/* Returns n (2^(1/n) - 1): tasks under rate-monotonic priorities meet all deadlines if they use no more. 1, .828, .780, .757 */
double response_time_bound(int count);

enum response_time_test {
    RESPONSE_BY_BOUND,    /* accepted: the sum of C/T is within the bound of Liu and Layland */
    RESPONSE_BY_ANALYSIS, /* accepted: each response time is within its deadline */
    RESPONSE_TOO_LATE,    /* refused: a guaranteed task would miss its deadline */
    RESPONSE_TOO_MUCH,    /* refused: the sum of C/T of all tasks, by mean cost, exceeds 1 */
};

/*
 * Tests whether all tasks can be admitted together, with their levels. The guaranteed ones by their longest costs: the bound is
 * enough if their levels are rate monotonic, each alone on its level, and their deadlines are their periods; otherwise each
 * response time is computed. All tasks together, by their mean costs: the sum of C/T is 1 at most, which is all that
 * statistical ones are promised. Returns 0, -EBUSY (refused; *by says why) or -EINVAL (values out of range).
 */
int response_time_admit(enum response_time_test *by, const struct rm_task *tasks, int count);

#endif
