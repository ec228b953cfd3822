/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "response_time.h"

#include <errno.h>
#include <math.h>

/* Of sums of C/T. */
static const double rounding = 1e-12;

static bool is_valid(const struct rm_task *task)
{
    const int64_t cost_ns = task->kind == RM_GUARANTEED ? task->cost_max_ns : task->cost_mean_ns;
    return cost_ns > 0 && task->cost_mean_ns > 0 && cost_ns <= task->deadline_ns && task->deadline_ns <= task->period_ns;
}

static bool precedes(const struct rm_task *other, const struct rm_task *task)
{
    return other != task && other->kind == RM_GUARANTEED && other->level >= task->level;
}

/* Returns the CPU time that a task of this level and all that precede it need for the releases in [0, within_ns). */
static int64_t demand_ns(const struct rm_task *tasks, int count, const struct rm_task *task, int64_t within_ns)
{
    int64_t sum_ns = task->cost_max_ns;
    for (int i = 0; i < count; i++) {
        const struct rm_task *const other = &tasks[i];
        if (precedes(other, task))
            sum_ns += (within_ns + other->period_ns - 1) / other->period_ns * other->cost_max_ns;
    }
    return sum_ns;
}

int response_time(int64_t *response_ns, const struct rm_task *tasks, int count, int task)
{
    for (int i = 0; i < count; i++)
        if (tasks[i].kind == RM_GUARANTEED && !is_valid(&tasks[i]))
            return -EINVAL;
    const int64_t deadline_ns = tasks[task].deadline_ns;
    /* The least fixed point of R = C + sum of ceil(R / T) C: R grows with each round, by one job at least. */
    int64_t next_ns = tasks[task].cost_max_ns;
    do {
        *response_ns = next_ns;
        next_ns = demand_ns(tasks, count, &tasks[task], *response_ns);
    } while (next_ns > *response_ns && next_ns <= deadline_ns);
    *response_ns = next_ns;
    return next_ns <= deadline_ns ? 0 : -EBUSY;
}

double response_time_bound(int count)
{
    return count > 0 ? count * (exp2(1.0 / count) - 1) : 1;
}

/* Returns the sum of C/T: of the guaranteed tasks by longest cost, or of all tasks by mean cost. */
static double use(const struct rm_task *tasks, int count, bool of_guaranteed)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        if (!of_guaranteed)
            sum += (double)tasks[i].cost_mean_ns / (double)tasks[i].period_ns;
        else if (tasks[i].kind == RM_GUARANTEED)
            sum += (double)tasks[i].cost_max_ns / (double)tasks[i].period_ns;
    }
    return sum;
}

/* True if these two tasks are as the bound of Liu and Layland wants them. */
static bool is_rate_monotonic(const struct rm_task *a, const struct rm_task *b)
{
    if (a->level == b->level)
        return false;
    return a->level > b->level ? a->period_ns <= b->period_ns : a->period_ns >= b->period_ns;
}

static bool bound_accepts(const struct rm_task *tasks, int count)
{
    int guaranteed = 0;
    for (int i = 0; i < count; i++) {
        if (tasks[i].kind != RM_GUARANTEED)
            continue;
        guaranteed++;
        if (tasks[i].deadline_ns != tasks[i].period_ns)
            return false;
        for (int k = 0; k < i; k++)
            if (tasks[k].kind == RM_GUARANTEED && !is_rate_monotonic(&tasks[k], &tasks[i]))
                return false;
    }
    return use(tasks, count, true) <= response_time_bound(guaranteed);
}

static bool analysis_accepts(const struct rm_task *tasks, int count)
{
    /* More than the CPU has: no fixed point, and long searches for it. */
    if (use(tasks, count, true) > 1 + rounding)
        return false;
    for (int i = 0; i < count; i++) {
        int64_t response_ns;
        if (tasks[i].kind == RM_GUARANTEED && response_time(&response_ns, tasks, count, i) < 0)
            return false;
    }
    return true;
}

int response_time_admit(enum response_time_test *by, const struct rm_task *tasks, int count)
{
    for (int i = 0; i < count; i++)
        if (!is_valid(&tasks[i]))
            return -EINVAL;
    if (use(tasks, count, false) > 1 + rounding) {
        *by = RESPONSE_TOO_MUCH;
        return -EBUSY;
    }
    *by = bound_accepts(tasks, count) ? RESPONSE_BY_BOUND : RESPONSE_BY_ANALYSIS;
    if (*by == RESPONSE_BY_ANALYSIS && !analysis_accepts(tasks, count))
        *by = RESPONSE_TOO_LATE;
    return *by == RESPONSE_TOO_LATE ? -EBUSY : 0;
}
