/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "thread_use.h"

/* The kernel's account of a thread and the times of its switches differ by the cost of a switch. */
static const double nearly_all = 0.98;

/* Returns the CPU time used from from_ns on, as far as the ring knows. */
static int64_t used_since(const struct thread_use *use, int64_t from_ns)
{
    const int64_t oldest = use->run_count > THREAD_USE_RUNS ? use->run_count - THREAD_USE_RUNS : 0;
    int64_t used_ns = 0;
    for (int64_t i = use->run_count - 1; i >= oldest; i--) {
        const struct thread_run *const run = &use->runs[i % THREAD_USE_RUNS];
        if (run->end_ns <= from_ns)
            break;
        used_ns += run->end_ns - (run->begin_ns > from_ns ? run->begin_ns : from_ns);
    }
    return used_ns;
}

static bool is_exhausted(const struct thread_use *use, int64_t now_ns)
{
    const int64_t period_ago_ns = now_ns - use->period_ns;
    const int64_t from_ns = period_ago_ns > use->reserved_ns ? period_ago_ns : use->reserved_ns;
    return (double)used_since(use, from_ns) >= nearly_all * (double)use->budget_ns;
}

static void go_out(struct thread_use *use, const struct thread_switch *at)
{
    if (!use->is_running)
        return;
    use->is_running = false;
    use->cpu_ns += at->time_ns - use->in_ns;
    use->runs[use->run_count++ % THREAD_USE_RUNS] = (struct thread_run){.begin_ns = use->in_ns, .end_ns = at->time_ns};
    if (at->kind == SWITCH_PREEMPTED && use->budget_ns && is_exhausted(use, at->time_ns))
        use->throttled++;
}

void thread_use_add(struct thread_use *use, const struct thread_switch *at)
{
    if (at->kind == SWITCH_LOST) {
        use->is_running = false; /* what it used meanwhile is lost, too */
        return;
    }
    if (at->kind == SWITCH_IN) {
        use->is_running = true;
        use->in_ns = at->time_ns;
    } else {
        go_out(use, at);
    }
    use->switched_ns = at->time_ns;
}

void thread_use_reserve(struct thread_use *use, int64_t now_ns, int64_t budget_ns, int64_t period_ns)
{
    if (!use->budget_ns)
        use->reserved_ns = now_ns;
    use->budget_ns = budget_ns;
    use->period_ns = period_ns;
}

int64_t thread_use_cpu_ns(const struct thread_use *use, int64_t now_ns)
{
    return use->cpu_ns + (use->is_running ? now_ns - use->in_ns : 0);
}
