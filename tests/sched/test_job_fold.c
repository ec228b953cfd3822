/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Jobs out of context switches. */
#include "job_fold.h"

#include "suite.h"

/* Adds switches and expects that exactly the last one ends a job. */
static struct thread_event fold_all(struct job_fold *fold, const struct thread_switch *switches, int count)
{
    struct thread_event job = {.time_ns = -1};
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(job_fold_add(fold, &switches[i], &job), i == count - 1);
    return job;
}

static void expect_no_job(struct job_fold *fold, enum switch_kind kind, int64_t time_ns)
{
    struct thread_event job;
    ck_assert(!job_fold_add(fold, &(struct thread_switch){.kind = kind, .time_ns = time_ns}, &job));
}

START_TEST(job_is_from_block_to_block)
{
    struct job_fold fold = {.state = FOLD_UNKNOWN};
    static const struct thread_switch first[] = {{SWITCH_BLOCKED, 5}, {SWITCH_IN, 40}, {SWITCH_BLOCKED, 43}};
    const struct thread_event job = fold_all(&fold, first, 3);
    ck_assert_int_eq(job.time_ns, 40);
    ck_assert_int_eq(job.cpu_ns, 3);
    static const struct thread_switch second[] = {{SWITCH_IN, 80}, {SWITCH_BLOCKED, 87}};
    ck_assert_int_eq(fold_all(&fold, second, 2).cpu_ns, 7);
}
END_TEST

START_TEST(preemption_ends_no_job_and_costs_no_cpu_time)
{
    struct job_fold fold = {.state = FOLD_BLOCKED};
    static const struct thread_switch switches[] = {
        {SWITCH_IN, 40}, {SWITCH_PREEMPTED, 42}, {SWITCH_IN, 50}, {SWITCH_PREEMPTED, 51}, {SWITCH_IN, 60}, {SWITCH_BLOCKED, 64},
    };
    const struct thread_event job = fold_all(&fold, switches, 6);
    ck_assert_int_eq(job.time_ns, 40);
    ck_assert_int_eq(job.cpu_ns, 7);
}
END_TEST

/* When the observation begins, nobody knows since when the thread has been running. */
START_TEST(job_that_had_already_begun_does_not_count)
{
    struct job_fold fold = {.state = FOLD_UNKNOWN};
    expect_no_job(&fold, SWITCH_PREEMPTED, 1);
    expect_no_job(&fold, SWITCH_IN, 2);
    expect_no_job(&fold, SWITCH_BLOCKED, 3);
    static const struct thread_switch next[] = {{SWITCH_IN, 10}, {SWITCH_BLOCKED, 12}};
    ck_assert_int_eq(fold_all(&fold, next, 2).time_ns, 10);
}
END_TEST

START_TEST(job_with_lost_switches_does_not_count)
{
    struct job_fold fold = {.state = FOLD_BLOCKED};
    expect_no_job(&fold, SWITCH_IN, 10);
    expect_no_job(&fold, SWITCH_LOST, 0);
    expect_no_job(&fold, SWITCH_IN, 30);
    expect_no_job(&fold, SWITCH_BLOCKED, 31);
    static const struct thread_switch next[] = {{SWITCH_IN, 40}, {SWITCH_BLOCKED, 41}};
    ck_assert_int_eq(fold_all(&fold, next, 2).time_ns, 40);
}
END_TEST

START_TEST(switches_that_do_not_fit_are_as_lost_ones)
{
    struct job_fold fold = {.state = FOLD_BLOCKED};
    expect_no_job(&fold, SWITCH_IN, 10);
    expect_no_job(&fold, SWITCH_IN, 20);
    expect_no_job(&fold, SWITCH_BLOCKED, 21);
    expect_no_job(&fold, SWITCH_PREEMPTED, 22);
    expect_no_job(&fold, SWITCH_IN, 23);
    expect_no_job(&fold, SWITCH_BLOCKED, 24);
}
END_TEST

START_TEST(job_that_has_not_ended_is_known_with_its_cpu_time_so_far)
{
    struct job_fold fold = {.state = FOLD_BLOCKED};
    struct thread_event job;
    ck_assert(!job_fold_unfinished(&fold, 5, &job));
    expect_no_job(&fold, SWITCH_IN, 10);
    ck_assert(job_fold_unfinished(&fold, 14, &job));
    ck_assert_int_eq(job.time_ns, 10);
    ck_assert_int_eq(job.cpu_ns, 4);
    expect_no_job(&fold, SWITCH_PREEMPTED, 15);
    ck_assert(job_fold_unfinished(&fold, 20, &job));
    ck_assert_int_eq(job.cpu_ns, 5);
    expect_no_job(&fold, SWITCH_LOST, 0);
    ck_assert(!job_fold_unfinished(&fold, 30, &job));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        job_is_from_block_to_block,
        preemption_ends_no_job_and_costs_no_cpu_time,
        job_that_had_already_begun_does_not_count,
        job_with_lost_switches_does_not_count,
        switches_that_do_not_fit_are_as_lost_ones,
        job_that_has_not_ended_is_known_with_its_cpu_time_so_far,
        NULL,
    };
    return suite_run("job_fold", SUITE_TIMEOUT_DEFAULT, tests);
}
