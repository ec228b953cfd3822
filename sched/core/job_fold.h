/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes jobs out of a thread's context switches. A job begins when the thread gets the CPU after having been blocked, and ends
 * when it blocks again; being preempted in between does not end it. These are the events that seed 003, section IV, calls
 * most relevant: when the application blocks, and when it goes on.
 */
#ifndef SCHED_JOB_FOLD_H
#define SCHED_JOB_FOLD_H

#include "period.h"

#include <stdbool.h>
#include <stdint.h>

enum switch_kind {
    SWITCH_IN,        /* the thread gets the CPU */
    SWITCH_BLOCKED,   /* it gives the CPU up to wait for something */
    SWITCH_PREEMPTED, /* it loses the CPU, and could go on */
    SWITCH_LOST,      /* switches are missing here; the time does not matter */
};

struct thread_switch {
    enum switch_kind kind;
    int64_t time_ns;
};

/* Begins as zero: nothing is known until the thread blocks for the first time. */
struct job_fold {
    enum { FOLD_UNKNOWN, FOLD_BLOCKED, FOLD_RUNNING, FOLD_PREEMPTED } state;
    struct thread_event job; /* the unfinished one */
    int64_t in_ns;           /* since when the thread has had the CPU */
};

/* Adds a switch. Returns true if it ends a job; then *job is that one. */
bool job_fold_add(struct job_fold *fold, const struct thread_switch *at, struct thread_event *job);

/*
 * Returns true if a job has begun and not yet ended; then *job is that one with its CPU time until now_ns, which is not before
 * the last switch.
 */
bool job_fold_unfinished(const struct job_fold *fold, int64_t now_ns, struct thread_event *job);

#endif
