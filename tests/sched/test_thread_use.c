/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CPU time and exhausted budgets, from made-up switches. Not covered: whether the kernel's own account agrees, which the tests
 * of `tune` see.
 */
#include "thread_use.h"

#include "suite.h"

#define MS INT64_C(1000000)

static void run(struct thread_use *use, int64_t from_ms, int64_t until_ms, enum switch_kind out)
{
    thread_use_add(use, &(struct thread_switch){.kind = SWITCH_IN, .time_ns = from_ms * MS});
    thread_use_add(use, &(struct thread_switch){.kind = out, .time_ns = until_ms * MS});
}

START_TEST(cpu_time_is_the_time_on_a_cpu)
{
    struct thread_use use = {.cpu_ns = 0};
    run(&use, 10, 13, SWITCH_PREEMPTED);
    run(&use, 20, 24, SWITCH_BLOCKED);
    ck_assert_int_eq(use.cpu_ns, 7 * MS);
    ck_assert_int_eq(use.switched_ns, 24 * MS);
    ck_assert_int_eq(thread_use_cpu_ns(&use, 30 * MS), 7 * MS);
    thread_use_add(&use, &(struct thread_switch){.kind = SWITCH_IN, .time_ns = 40 * MS});
    ck_assert_int_eq(thread_use_cpu_ns(&use, 45 * MS), 12 * MS);
}
END_TEST

START_TEST(preemption_with_the_budget_used_up_counts)
{
    struct thread_use use = {.cpu_ns = 0};
    thread_use_reserve(&use, 0, 10 * MS, 40 * MS);
    run(&use, 0, 10, SWITCH_PREEMPTED);
    ck_assert_int_eq(use.throttled, 1);
    run(&use, 40, 50, SWITCH_PREEMPTED);
    ck_assert_int_eq(use.throttled, 2);
}
END_TEST

START_TEST(budget_used_in_parts_is_used_up)
{
    struct thread_use use = {.cpu_ns = 0};
    thread_use_reserve(&use, 0, 10 * MS, 40 * MS);
    run(&use, 0, 4, SWITCH_BLOCKED);
    run(&use, 10, 13, SWITCH_PREEMPTED);
    ck_assert_int_eq(use.throttled, 0);
    run(&use, 20, 23, SWITCH_PREEMPTED);
    ck_assert_int_eq(use.throttled, 1);
}
END_TEST

/* The kernel looks only at its tick, so that a budget is overrun, and the next one is less by that. */
START_TEST(overrun_is_paid_back_and_counts_again)
{
    struct thread_use use = {.cpu_ns = 0};
    thread_use_reserve(&use, 0, 10 * MS, 40 * MS);
    run(&use, 0, 12, SWITCH_PREEMPTED);
    run(&use, 40, 48, SWITCH_PREEMPTED);
    ck_assert_int_eq(use.throttled, 2);
}
END_TEST

START_TEST(other_preemptions_and_blocking_do_not_count)
{
    struct thread_use use = {.cpu_ns = 0};
    run(&use, 0, 30, SWITCH_PREEMPTED); /* there is no reservation yet */
    thread_use_reserve(&use, 30 * MS, 10 * MS, 40 * MS);
    run(&use, 31, 36, SWITCH_PREEMPTED); /* what was used before it does not count */
    run(&use, 37, 42, SWITCH_BLOCKED);
    run(&use, 80, 85, SWITCH_PREEMPTED); /* more than a period later */
    ck_assert_int_eq(use.throttled, 0);
    thread_use_reserve(&use, 90 * MS, 0, 0);
    run(&use, 100, 140, SWITCH_PREEMPTED);
    ck_assert_int_eq(use.throttled, 0);
}
END_TEST

START_TEST(lost_switches_are_no_cpu_time)
{
    struct thread_use use = {.cpu_ns = 0};
    thread_use_add(&use, &(struct thread_switch){.kind = SWITCH_IN, .time_ns = 10 * MS});
    thread_use_add(&use, &(struct thread_switch){.kind = SWITCH_LOST});
    thread_use_add(&use, &(struct thread_switch){.kind = SWITCH_BLOCKED, .time_ns = 90 * MS});
    ck_assert_int_eq(use.cpu_ns, 0);
}
END_TEST

START_TEST(more_switches_than_the_ring_holds_forget_the_oldest)
{
    struct thread_use use = {.cpu_ns = 0};
    thread_use_reserve(&use, 0, 310 * MS, 1000 * MS);
    for (int i = 0; i < THREAD_USE_RUNS + 10; i++)
        run(&use, 3 * i, 3 * i + 2, SWITCH_BLOCKED);
    ck_assert_int_eq(use.cpu_ns, (THREAD_USE_RUNS + 10) * 2 * MS);
    run(&use, 3 * (THREAD_USE_RUNS + 10), 3 * (THREAD_USE_RUNS + 10) + 40, SWITCH_PREEMPTED);
    ck_assert_int_eq(use.throttled, 0); /* 316 ms, of which the ring knows 294 */
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        cpu_time_is_the_time_on_a_cpu,
        preemption_with_the_budget_used_up_counts,
        budget_used_in_parts_is_used_up,
        overrun_is_paid_back_and_counts_again,
        other_preemptions_and_blocking_do_not_count,
        lost_switches_are_no_cpu_time,
        more_switches_than_the_ring_holds_forget_the_oldest,
        NULL,
    };
    return suite_run("thread_use", SUITE_TIMEOUT_DEFAULT, tests);
}
