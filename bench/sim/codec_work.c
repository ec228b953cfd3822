/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "codec_work.h"

#include <math.h>
#include <stddef.h>

/* A picture waits for its reference before each of so many parts. FFmpeg waits before rows of macroblocks; more parts made no difference. */
enum { PARTS = 12 };

void codec_work_add(struct codec_work *work, const struct codec_job *job)
{
    work->jobs[work->count++] = *job;
}

static bool has_ended(const struct codec_job *job)
{
    return job->end_ns > 0;
}

bool codec_work_first_ended(const struct codec_work *work)
{
    return has_ended(&work->jobs[0]);
}

struct codec_job codec_work_take(struct codec_work *work)
{
    const struct codec_job first = work->jobs[0];
    work->count--;
    for (int i = 0; i < work->count; i++)
        work->jobs[i] = work->jobs[i + 1];
    return first;
}

/* Returns the part that a job is in. */
static int part_of(const struct codec_job *job)
{
    return job->cost_ns > 0 ? (int)(job->done_ns * PARTS / job->cost_ns) : PARTS;
}

/* Returns the CPU time after which the part ends in which the job is. */
static int64_t part_end_ns(const struct codec_job *job)
{
    const int64_t part = part_of(job) + 1;
    return (part * job->cost_ns + PARTS - 1) / PARTS < job->cost_ns ? (part * job->cost_ns + PARTS - 1) / PARTS : job->cost_ns;
}

static const struct codec_job *reference_of(const struct codec_work *work, const struct codec_job *job)
{
    for (int i = 0; job->reference >= 0 && i < work->count; i++)
        if (work->jobs[i].packet == job->reference && !has_ended(&work->jobs[i]))
            return &work->jobs[i];
    return NULL;
}

static bool can_run(const struct codec_work *work, const struct codec_order *order, const struct codec_job *job)
{
    if (has_ended(job))
        return false;
    const struct codec_job *const reference = reference_of(work, job);
    if (!reference)
        return true;
    const double wanted = (double)(part_of(job) + 1) / PARTS + order->ahead;
    return (double)reference->done_ns >= fmin(wanted, 1) * (double)reference->cost_ns;
}

int64_t codec_work_left_ns(const struct codec_work *work)
{
    int64_t sum_ns = 0;
    for (int i = 0; i < work->count; i++)
        if (!has_ended(&work->jobs[i]))
            sum_ns += work->jobs[i].cost_ns - work->jobs[i].done_ns;
    return sum_ns;
}

int codec_work_running(const struct codec_work *work, const struct codec_order *order)
{
    int running = 0;
    for (int i = 0; i < work->count; i++)
        running += can_run(work, order, &work->jobs[i]);
    return running;
}

/* Jobs end whose work is done, or whose deadline has come. */
static void end_jobs(struct codec_work *work, int64_t now_ns)
{
    for (int i = 0; i < work->count; i++) {
        struct codec_job *const job = &work->jobs[i];
        if (has_ended(job))
            continue;
        const bool is_done = job->done_ns >= job->cost_ns;
        job->is_aborted = !is_done && job->is_droppable && now_ns >= job->deadline_ns;
        if (is_done || job->is_aborted)
            job->end_ns = now_ns > 0 ? now_ns : 1;
    }
}

/* Returns until when nothing changes if each running job has this part of a CPU. */
static int64_t next_change_ns(const struct codec_work *work, const bool *runs, double part, int64_t now_ns, int64_t until_ns)
{
    for (int i = 0; i < work->count; i++) {
        const struct codec_job *const job = &work->jobs[i];
        if (!has_ended(job) && job->is_droppable && job->deadline_ns < until_ns)
            until_ns = job->deadline_ns;
        if (!runs[i])
            continue;
        const double wall_ns = ceil((double)(part_end_ns(job) - job->done_ns) / part);
        if (wall_ns < (double)(until_ns - now_ns))
            until_ns = now_ns + (int64_t)wall_ns;
    }
    return until_ns;
}

void codec_work_run(struct codec_work *work, const struct codec_order *order, const struct fair_machine *machine, bool presents,
                    int64_t *now_ns, int64_t until_ns)
{
    bool runs[CODEC_WORK_MAX];
    int running = 0;
    end_jobs(work, *now_ns);
    for (int i = 0; i < work->count; i++)
        running += runs[i] = can_run(work, order, &work->jobs[i]);
    const double part = fair_part(machine, running, presents);
    const int64_t end_ns = part > 0 ? next_change_ns(work, runs, part, *now_ns, until_ns) : until_ns;
    for (int i = 0; i < work->count; i++) {
        struct codec_job *const job = &work->jobs[i];
        const int64_t left_ns = part_end_ns(job) - job->done_ns;
        const int64_t got_ns = runs[i] ? llround(part * (double)(end_ns - *now_ns)) : 0;
        const int64_t used_ns = got_ns < left_ns ? got_ns : left_ns;
        job->done_ns += used_ns;
        work->received_ns += used_ns;
    }
    *now_ns = end_ns;
    end_jobs(work, *now_ns);
}
