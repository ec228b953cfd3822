/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu_rate.h"

#include "ns.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static const int64_t short_period_ns = 8 * NS_PER_MS, short_job_ns = 3 * NS_PER_MS;
static const int64_t long_period_ns = 200 * NS_PER_MS, long_job_ns = 20 * NS_PER_MS;
/* A job takes at least this part of its nominal time. */
static const double job_part_min = 0.9;

enum { BURST_SOURCES = 3 };
static const int64_t burst_ns = 300 * NS_PER_MS;

/* Adds a step, unless the part stays the same. A step at the same time as the last one replaces that. */
static int append(struct cpu_rate *rate, int64_t from_ns, double part)
{
    const int64_t count = rate->count;
    if (count > 0 && rate->steps[count - 1].part == part)
        return 0;
    if (count > 0 && rate->steps[count - 1].from_ns == from_ns) {
        rate->steps[count - 1].part = part;
        return 0;
    }
    if (!(count & (count - 1))) { /* a power of two, or the first one: the array is full */
        const size_t room = count ? 2 * (size_t)count : 1;
        struct cpu_rate_step *const steps = realloc(rate->steps, room * sizeof *steps);
        if (!steps)
            return -ENOMEM;
        rate->steps = steps;
    }
    rate->steps[rate->count++] = (struct cpu_rate_step){from_ns, part};
    return 0;
}

void cpu_rate_finish(struct cpu_rate *rate)
{
    free(rate->steps);
    *rate = (struct cpu_rate){0};
}

static int finish_if(struct cpu_rate *rate, int ret)
{
    if (ret)
        cpu_rate_finish(rate);
    return ret;
}

int cpu_rate_constant(struct cpu_rate *rate, double part)
{
    *rate = (struct cpu_rate){0};
    return append(rate, 0, part);
}

static int64_t job_ns(int64_t nominal_ns, struct sim_random *random)
{
    return (int64_t)((double)nominal_ns * (job_part_min + (1 - job_part_min) * sim_random_uniform(random)));
}

/* The long task, which the short one preempts. */
struct long_task {
    int64_t next_ns; /* when its next job comes; INT64_MAX: there is no such task */
    int64_t left_ns; /* of its current job */
};

/* The time in which the short task does nothing: the long one runs in it, and the player has the rest. */
static int append_gap(struct cpu_rate *rate, struct long_task *task, int64_t from_ns, int64_t end_ns,
                      struct sim_random *random)
{
    int64_t at_ns = from_ns;
    int ret = append(rate, at_ns, 1);
    if (!ret && task->left_ns == 0 && task->next_ns < end_ns) {
        at_ns = task->next_ns > from_ns ? task->next_ns : from_ns;
        task->next_ns += long_period_ns;
        task->left_ns = job_ns(long_job_ns, random);
    }
    if (ret || task->left_ns == 0)
        return ret;
    const int64_t run_ns = task->left_ns < end_ns - at_ns ? task->left_ns : end_ns - at_ns;
    task->left_ns -= run_ns;
    ret = append(rate, at_ns, 0);
    return ret || at_ns + run_ns == end_ns ? ret : append(rate, at_ns + run_ns, 1);
}

int cpu_rate_beside_rtapp(struct cpu_rate *rate, enum rtapp_tasks tasks, int64_t until_ns, struct sim_random *random)
{
    *rate = (struct cpu_rate){0};
    const int64_t work_ns = job_ns(short_job_ns, random);
    int64_t at_ns = -(int64_t)(sim_random_uniform(random) * (double)short_period_ns);
    struct long_task task = {.next_ns = INT64_MAX};
    if (tasks == RTAPP_BOTH)
        task.next_ns = at_ns - (int64_t)(sim_random_uniform(random) * (double)long_period_ns);
    int ret = 0;
    for (; !ret && at_ns < until_ns; at_ns += short_period_ns) {
        ret = append(rate, at_ns, 0);
        if (!ret)
            ret = append_gap(rate, &task, at_ns + work_ns, at_ns + short_period_ns, random);
    }
    /* The last part holds for ever, so it must not be that of a task which has the CPU. */
    if (!ret)
        ret = append(rate, at_ns, 1);
    return finish_if(rate, ret);
}

/* Programs that are busy and idle in turns. */
struct sources {
    int64_t change_ns[BURST_SOURCES];
    bool is_busy[BURST_SOURCES];
    int64_t idle_ns;
};

static int next_source(const struct sources *sources)
{
    int first = 0;
    for (int i = 1; i < BURST_SOURCES; i++)
        if (sources->change_ns[i] < sources->change_ns[first])
            first = i;
    return first;
}

static double part_beside(const struct sources *sources)
{
    int busy = 0;
    for (int i = 0; i < BURST_SOURCES; i++)
        busy += sources->is_busy[i];
    return 1.0 / (1 + busy);
}

static void change_source(struct sources *sources, int i, struct sim_random *random)
{
    sources->is_busy[i] = !sources->is_busy[i];
    sources->change_ns[i] += 1 + sim_random_exponential_ns(random, sources->is_busy[i] ? burst_ns : sources->idle_ns);
}

int cpu_rate_beside_bursts(struct cpu_rate *rate, int64_t idle_ns, int64_t until_ns, struct sim_random *random)
{
    *rate = (struct cpu_rate){0};
    struct sources sources = {.idle_ns = idle_ns};
    for (int i = 0; i < BURST_SOURCES; i++) {
        sources.is_busy[i] = sim_random_uniform(random) * (double)(burst_ns + idle_ns) < (double)burst_ns;
        sources.change_ns[i] = sim_random_exponential_ns(random, sources.is_busy[i] ? burst_ns : idle_ns);
    }
    int ret = append(rate, 0, part_beside(&sources));
    for (;;) {
        const int i = next_source(&sources);
        const int64_t at_ns = sources.change_ns[i];
        if (ret || at_ns >= until_ns)
            return finish_if(rate, ret);
        change_source(&sources, i, random);
        ret = append(rate, at_ns, part_beside(&sources));
    }
}

double cpu_rate_mean(const struct cpu_rate *rate, int64_t until_ns)
{
    double sum_ns = 0;
    for (int64_t i = 0; i < rate->count && rate->steps[i].from_ns < until_ns; i++) {
        const int64_t from_ns = rate->steps[i].from_ns > 0 ? rate->steps[i].from_ns : 0;
        int64_t end_ns = i + 1 < rate->count ? rate->steps[i + 1].from_ns : until_ns;
        if (end_ns > until_ns)
            end_ns = until_ns;
        if (end_ns > from_ns)
            sum_ns += rate->steps[i].part * (double)(end_ns - from_ns);
    }
    return sum_ns / (double)until_ns;
}
