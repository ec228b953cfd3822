/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A discrete simulation of one CPU under preemptive fixed priorities, as SCHED_FIFO has them. A step is 1 ns. */
#ifndef FIXED_PRIORITY_RUN_H
#define FIXED_PRIORITY_RUN_H

#include "rm_task.h"

#include <stdint.h>

enum { RUN_TASKS_MAX = 16 };

/*
 * Runs the tasks from 0 to until_ns, each job for its task's cost_max_ns. Task i releases its jobs at offsets_ns[i] and every
 * period after it; offsets_ns NULL: at 0. Jobs of one level run in the order of their releases, then of their tasks.
 * longest_ns[i] becomes the longest response time; a job that is unfinished at the end counts with its age.
 */
void fixed_priority_run(int64_t *longest_ns, const struct rm_task *tasks, const int64_t *offsets_ns, int count,
                        int64_t until_ns);

#endif
