/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lateness of made-up jobs, and verdicts on windows. Not covered: a real player on a busy machine, which the laboratory
 * measures.
 */
#include "wake_lateness.h"

#include "made_up_events.h"
#include "suite.h"

#include <errno.h>

#define MS INT64_C(1000000)

static struct made_up_events made_up;
static struct period_work work;

/* Jobs at 25 Hz, of which every late_every-th is late. */
static void make_jobs(int jobs, int late_every, int64_t late_ns)
{
    made_up.count = 0;
    for (int i = 0; i < jobs; i++)
        made_up.events[made_up.count++] = (struct thread_event){
            .time_ns = 7 * MS + i * 40 * MS + (late_every && i % late_every == 0 ? late_ns : 0), .cpu_ns = MS,
        };
}

static int64_t lateness(void)
{
    int64_t late_ns = -1;
    ck_assert_int_eq(wake_lateness(&late_ns, made_up.events, made_up.count, 25, &work), 0);
    return late_ns;
}

START_TEST(punctual_jobs_are_not_late)
{
    make_jobs(125, 0, 0);
    ck_assert_int_lt(lateness(), MS / 100);
}
END_TEST

START_TEST(one_late_job_in_ten_is_seen_and_one_in_fifty_is_not)
{
    make_jobs(125, 10, 9 * MS);
    ck_assert_double_eq_tol((double)lateness() / MS, 9, 0.01);
    make_jobs(125, 50, 9 * MS);
    ck_assert_int_lt(lateness(), MS / 100);
}
END_TEST

START_TEST(second_job_of_a_period_does_not_count)
{
    struct sim_random random;
    sim_random_init(&random, 3);
    make_jobs(125, 0, 0);
    made_up_noise(&made_up, 15, 1, 5, &random);
    ck_assert_int_lt(lateness(), 3 * MS);
}
END_TEST

START_TEST(too_few_jobs_are_no_answer)
{
    int64_t late_ns;
    make_jobs(19, 0, 0);
    ck_assert_int_eq(wake_lateness(&late_ns, made_up.events, made_up.count, 25, &work), -ENODATA);
    ck_assert_int_eq(wake_lateness(&late_ns, made_up.events, 0, 25, &work), -ENODATA);
}
END_TEST

static struct wake_result result_of(const int64_t *with, const int64_t *without, int count)
{
    struct wake_comparison comparison = {.with = 0};
    for (int i = 0; i < count; i++) {
        wake_comparison_add(&comparison, true, with[i]);
        wake_comparison_add(&comparison, false, without[i]);
    }
    return wake_comparison_result(&comparison);
}

START_TEST(clearly_less_lateness_has_helped)
{
    const int64_t less[] = {1 * MS, 2 * MS, 1 * MS, 9 * MS, 1 * MS}, more[] = {8 * MS, 7 * MS, 9 * MS, 8 * MS, 6 * MS};
    const struct wake_result helped = result_of(less, more, 5);
    ck_assert_int_eq(helped.verdict, WAKE_HELPED);
    ck_assert_double_eq(helped.with_ns, 1 * MS);
    ck_assert_double_eq(helped.without_ns, 8 * MS);
    ck_assert_int_eq(result_of(more, less, 5).verdict, WAKE_HARMED);
}
END_TEST

START_TEST(small_or_uncertain_differences_are_none)
{
    const int64_t a[] = {80000, 90000, 70000}, b[] = {20000, 30000, 10000}; /* 60 us */
    ck_assert_int_eq(result_of(b, a, 3).verdict, WAKE_NO_DIFFERENCE);
    const int64_t c[] = {900 * MS, 950 * MS, 990 * MS}, d[] = {1000 * MS, 1000 * MS, 1000 * MS}; /* 5 % */
    ck_assert_int_eq(result_of(c, d, 3).verdict, WAKE_NO_DIFFERENCE);
    const int64_t e[] = {1 * MS, 1 * MS, 9 * MS, 1 * MS, 9 * MS}, f[] = {5 * MS, 5 * MS, 5 * MS, 5 * MS, 5 * MS}; /* 3 of 5 */
    ck_assert_int_eq(result_of(e, f, 5).verdict, WAKE_NO_DIFFERENCE);
}
END_TEST

START_TEST(few_windows_are_no_answer)
{
    const int64_t a[] = {1 * MS, 1 * MS}, b[] = {9 * MS, 9 * MS};
    ck_assert_int_eq(result_of(a, b, 2).verdict, WAKE_TOO_FEW);
    ck_assert_int_eq(result_of(a, b, 0).verdict, WAKE_TOO_FEW);
}
END_TEST

START_TEST(windows_beyond_the_last_place_are_left_out)
{
    struct wake_comparison comparison = {.with = 0};
    for (int i = 0; i < WAKE_WINDOWS_MAX + 5; i++)
        wake_comparison_add(&comparison, true, MS);
    ck_assert_int_eq(comparison.with, WAKE_WINDOWS_MAX);
    ck_assert_int_eq(comparison.without, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        punctual_jobs_are_not_late,
        one_late_job_in_ten_is_seen_and_one_in_fifty_is_not,
        second_job_of_a_period_does_not_count,
        too_few_jobs_are_no_answer,
        clearly_less_lateness_has_helped,
        small_or_uncertain_differences_are_none,
        few_windows_are_no_answer,
        windows_beyond_the_last_place_are_left_out,
        NULL,
    };
    return suite_run("wake_lateness", SUITE_TIMEOUT_DEFAULT, tests);
}
