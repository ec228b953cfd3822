/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "job_fold.h"

/* The thread gets the CPU. A switch that does not fit to the one before means that some are missing. */
static void come_in(struct job_fold *fold, int64_t time_ns)
{
    if (fold->state == FOLD_BLOCKED)
        fold->job = (struct thread_event){.time_ns = time_ns};
    const bool fits = fold->state == FOLD_BLOCKED || fold->state == FOLD_PREEMPTED;
    fold->state = fits ? FOLD_RUNNING : FOLD_UNKNOWN;
    fold->in_ns = time_ns;
}

bool job_fold_add(struct job_fold *fold, const struct thread_switch *at, struct thread_event *job)
{
    const bool was_running = fold->state == FOLD_RUNNING;
    if (was_running && (at->kind == SWITCH_BLOCKED || at->kind == SWITCH_PREEMPTED))
        fold->job.cpu_ns += at->time_ns - fold->in_ns;
    switch (at->kind) {
    case SWITCH_IN: come_in(fold, at->time_ns); break;
    case SWITCH_BLOCKED: fold->state = FOLD_BLOCKED; break;
    case SWITCH_PREEMPTED: fold->state = was_running ? FOLD_PREEMPTED : FOLD_UNKNOWN; break;
    case SWITCH_LOST: fold->state = FOLD_UNKNOWN; break;
    }
    const bool ends = was_running && at->kind == SWITCH_BLOCKED;
    if (ends) {
        fold->job.end_ns = at->time_ns;
        *job = fold->job;
    }
    return ends;
}

bool job_fold_unfinished(const struct job_fold *fold, int64_t now_ns, struct thread_event *job)
{
    if (fold->state != FOLD_RUNNING && fold->state != FOLD_PREEMPTED)
        return false;
    *job = fold->job;
    if (fold->state == FOLD_RUNNING)
        job->cpu_ns += now_ns - fold->in_ns;
    return true;
}
