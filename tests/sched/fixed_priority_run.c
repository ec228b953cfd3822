/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fixed_priority_run.h"

#include <stddef.h>

/* The oldest unfinished job of a task. */
struct job {
    int64_t released_ns;
    int64_t left_ns;
};

/* Returns the task whose job runs at now_ns, or -1. */
static int select_task(const struct rm_task *tasks, const struct job *jobs, int count, int64_t now_ns)
{
    int best = -1;
    for (int i = 0; i < count; i++) {
        if (jobs[i].released_ns > now_ns)
            continue;
        if (best < 0 || tasks[i].level > tasks[best].level ||
            (tasks[i].level == tasks[best].level && jobs[i].released_ns < jobs[best].released_ns))
            best = i;
    }
    return best;
}

static void note(int64_t *longest_ns, int64_t response_ns)
{
    if (response_ns > *longest_ns)
        *longest_ns = response_ns;
}

void fixed_priority_run(int64_t *longest_ns, const struct rm_task *tasks, const int64_t *offsets_ns, int count,
                        int64_t until_ns)
{
    struct job jobs[RUN_TASKS_MAX];
    for (int i = 0; i < count; i++) {
        jobs[i] = (struct job){.released_ns = offsets_ns ? offsets_ns[i] : 0, .left_ns = tasks[i].cost_max_ns};
        longest_ns[i] = 0;
    }
    for (int64_t now_ns = 0; now_ns < until_ns; now_ns++) {
        const int task = select_task(tasks, jobs, count, now_ns);
        if (task < 0 || --jobs[task].left_ns > 0)
            continue;
        note(&longest_ns[task], now_ns + 1 - jobs[task].released_ns);
        jobs[task].released_ns += tasks[task].period_ns;
        jobs[task].left_ns = tasks[task].cost_max_ns;
    }
    for (int i = 0; i < count; i++)
        note(&longest_ns[i], until_ns - jobs[i].released_ns);
}
