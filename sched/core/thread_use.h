/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much CPU time a thread uses, and how often the budget of its reservation runs out, from its context switches.
 *
 * Linux reports to nobody that a budget has run out (before a tracepoint of Linux 7). It takes the CPU away, which looks like
 * any preemption. So a preemption counts as "the budget ran out" if the thread has used the whole budget within the last
 * period: since the last replenishment, which is at most a period ago, it cannot have used more. A thread that used its budget
 * and was preempted by another one just then is counted as well; it was close to the limit in any case.
 */
#ifndef SCHED_THREAD_USE_H
#define SCHED_THREAD_USE_H

#include "job_fold.h"

#include <stdbool.h>
#include <stdint.h>

/* A thread with more switches within a period than this may run out of its budget unnoticed. */
enum { THREAD_USE_RUNS = 128 };

/* Begins as zero. */
struct thread_use {
    int64_t cpu_ns;      /* used up to the last switch */
    int64_t throttled;   /* how often a budget ran out */
    int64_t switched_ns; /* when the last switch was; 0: there was none */
    int64_t in_ns;       /* since when it has the CPU, if is_running */
    bool is_running;
    int64_t budget_ns; /* of its reservation; 0: it has none */
    int64_t period_ns;
    int64_t reserved_ns; /* since when it has one */
    struct thread_run {
        int64_t begin_ns;
        int64_t end_ns;
    } runs[THREAD_USE_RUNS]; /* the latest times on a CPU, a ring */
    int64_t run_count;
};

/* Adds a switch. */
void thread_use_add(struct thread_use *use, const struct thread_switch *at);

/* Takes note of a new or changed reservation, or of its end (budget_ns 0). */
void thread_use_reserve(struct thread_use *use, int64_t now_ns, int64_t budget_ns, int64_t period_ns);

/* Returns the CPU time used until now_ns, which is not before the last switch. */
int64_t thread_use_cpu_ns(const struct thread_use *use, int64_t now_ns);

#endif
