/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lateness of made-up jobs, and verdicts on pairs of windows. Not covered: a player that starves (test_tune.py), and a real one
 * on a busy machine, which the laboratory measures.
 */
#include "wake_lateness.h"

#include "made_up_events.h"
#include "suite.h"

#include <errno.h>

#define MS INT64_C(1000000)

static struct made_up_events made_up;
static struct period_work work;

/* Adds a job of a period of 25 Hz that begins late, and lasts for a time. */
static void add_job(int period, int64_t late_ns, int64_t lasts_ns)
{
    const int64_t time_ns = 7 * MS + period * 40 * MS + late_ns;
    made_up.events[made_up.count++] = (struct thread_event){.time_ns = time_ns, .cpu_ns = MS, .end_ns = time_ns + lasts_ns};
}

/* Jobs at 25 Hz, of which every late_every-th is late. */
static void make_jobs(int jobs, int late_every, int64_t late_ns)
{
    made_up.count = 0;
    for (int i = 0; i < jobs; i++)
        add_job(i, late_every && i % late_every == 0 ? late_ns : 0, MS);
}

/* Returns a window of so many periods that has the made-up jobs. */
static struct wake_window window_of(int periods)
{
    return (struct wake_window){.events = made_up.events, .count = made_up.count, .until_ns = periods * 40 * MS, .hz = 25};
}

static int64_t lateness_in(const struct wake_window *window)
{
    int64_t late_ns = -1;
    ck_assert_int_eq(wake_lateness(&late_ns, window, &work), 0);
    return late_ns;
}

static int64_t lateness(void)
{
    const struct wake_window window = window_of(125);
    return lateness_in(&window);
}

static void expect_no_answer(const struct wake_window *window)
{
    int64_t late_ns;
    ck_assert_int_eq(wake_lateness(&late_ns, window, &work), -ENODATA);
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

START_TEST(lateness_of_more_than_half_a_period_is_not_taken_for_an_early_job)
{
    make_jobs(125, 10, 24 * MS);
    ck_assert_double_eq_tol((double)lateness() / MS, 24, 0.01);
    make_jobs(125, 3, 24 * MS); /* these move the mean phase */
    ck_assert_double_eq_tol((double)lateness() / MS, 24, 0.01);
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

START_TEST(window_of_few_periods_is_no_answer)
{
    make_jobs(19, 0, 0);
    const struct wake_window window = window_of(19);
    expect_no_answer(&window);
}
END_TEST

/* In a whole window a thread that starves never blocks, so that no job ends. */
static struct wake_window starved(void)
{
    make_jobs(1, 0, 0);
    struct wake_window window = window_of(125);
    window.count = 0;
    window.unfinished_ns = made_up.events[0].time_ns;
    return window;
}

START_TEST(thread_that_never_blocks_is_a_period_late)
{
    const struct wake_window window = starved();
    ck_assert_int_eq(lateness_in(&window), 40 * MS);
}
END_TEST

START_TEST(thread_that_blocks_rarely_is_a_period_late)
{
    made_up.count = 0;
    for (int i = 0; i < 125; i += 8)
        add_job(i, 0, MS);
    ck_assert_int_eq(lateness(), 40 * MS);
}
END_TEST

START_TEST(each_period_of_a_long_job_is_a_period_late)
{
    make_jobs(110, 0, 0);
    add_job(110, 0, 4 * 40 * MS); /* 4 of 114 */
    struct wake_window window = window_of(115);
    ck_assert_int_lt(lateness_in(&window), MS / 100);
    made_up.count--;
    add_job(110, 0, 14 * 40 * MS);
    window = window_of(125);
    ck_assert_double_eq_tol((double)lateness_in(&window) / MS, 40, 0.01);
    window.count--; /* the same, without an end */
    window.unfinished_ns = made_up.events[110].time_ns;
    ck_assert_double_eq_tol((double)lateness_in(&window) / MS, 40, 0.01);
}
END_TEST

START_TEST(job_of_less_than_one_and_a_half_periods_is_an_expensive_picture)
{
    made_up.count = 0;
    for (int i = 0; i < 125; i++)
        if (i % 10 != 9)
            add_job(i, 0, i % 10 == 8 ? 55 * MS : MS);
    ck_assert_int_lt(lateness(), MS / 100);
}
END_TEST

START_TEST(thread_that_pauses_is_no_answer)
{
    make_jobs(100, 0, 0);
    struct wake_window window = window_of(125); /* nothing for a second at its end */
    expect_no_answer(&window);
    window.from_ns = -1000 * MS;
    window.until_ns = 100 * 40 * MS;
    expect_no_answer(&window);
    window.from_ns = 0;
    window.count = 0;
    expect_no_answer(&window);
}
END_TEST

/* A thread has missed pictures until 0.5 s, when its reservation begins, and has caught up with them at 2 s. */
static struct wake_window caught_up(void)
{
    made_up.count = 0;
    add_job(1, 0, 49 * 40 * MS);
    for (int i = 50; i < 125; i++)
        add_job(i, 0, MS);
    struct wake_window window = window_of(125);
    window.from_ns = 1000 * MS;
    return window;
}

START_TEST(what_was_missed_before_reservations_is_not_their_fault)
{
    struct wake_window window = caught_up();
    ck_assert_double_eq_tol((double)lateness_in(&window) / MS, 40, 0.01);
    window.switched_ns = 500 * MS;
    ck_assert_int_lt(lateness_in(&window), MS / 100);
}
END_TEST

START_TEST(thread_that_never_catches_up_is_late_with_reservations_too)
{
    struct wake_window window = starved();
    window.switched_ns = 500 * MS;
    ck_assert_int_eq(lateness_in(&window), 40 * MS);
    window = caught_up();
    window.switched_ns = 500 * MS;
    window.until_ns = 60 * 40 * MS; /* 10 periods after it has */
    window.count = 60 - 50;
    ck_assert_int_eq(lateness_in(&window), 40 * MS);
}
END_TEST

static struct wake_result result_of(const int64_t *with, const int64_t *without, int count)
{
    struct wake_comparison comparison = {.pairs = 0};
    for (int i = 0; i < count; i++)
        wake_comparison_add(&comparison, with[i], without[i]);
    return wake_comparison_result(&comparison);
}

START_TEST(thread_that_starves_without_reservations_was_helped)
{
    int64_t with[3], without[3];
    for (int i = 0; i < 3; i++) {
        make_jobs(125, 10, 9 * MS);
        with[i] = lateness();
        const struct wake_window window = starved();
        without[i] = lateness_in(&window);
    }
    const struct wake_result result = result_of(with, without, 3);
    ck_assert_int_eq(result.verdict, WAKE_HELPED);
    ck_assert_double_eq_tol(result.with_ns / MS, 9, 0.01);
    ck_assert_double_eq(result.without_ns, 40 * MS);
}
END_TEST

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

START_TEST(few_pairs_are_no_answer)
{
    const int64_t a[] = {1 * MS, 1 * MS}, b[] = {9 * MS, 9 * MS};
    ck_assert_int_eq(result_of(a, b, 2).verdict, WAKE_TOO_FEW);
    ck_assert_int_eq(result_of(a, b, 0).verdict, WAKE_TOO_FEW);
}
END_TEST

START_TEST(pairs_beyond_the_last_place_are_left_out)
{
    struct wake_comparison comparison = {.pairs = 0};
    for (int i = 0; i < WAKE_PAIRS_MAX + 5; i++)
        wake_comparison_add(&comparison, MS, 2 * MS);
    ck_assert_int_eq(comparison.pairs, WAKE_PAIRS_MAX);
    ck_assert_int_eq(wake_comparison_result(&comparison).verdict, WAKE_HELPED);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        punctual_jobs_are_not_late,
        one_late_job_in_ten_is_seen_and_one_in_fifty_is_not,
        lateness_of_more_than_half_a_period_is_not_taken_for_an_early_job,
        second_job_of_a_period_does_not_count,
        window_of_few_periods_is_no_answer,
        thread_that_never_blocks_is_a_period_late,
        thread_that_blocks_rarely_is_a_period_late,
        each_period_of_a_long_job_is_a_period_late,
        job_of_less_than_one_and_a_half_periods_is_an_expensive_picture,
        thread_that_pauses_is_no_answer,
        what_was_missed_before_reservations_is_not_their_fault,
        thread_that_never_catches_up_is_late_with_reservations_too,
        thread_that_starves_without_reservations_was_helped,
        clearly_less_lateness_has_helped,
        small_or_uncertain_differences_are_none,
        few_pairs_are_no_answer,
        pairs_beyond_the_last_place_are_left_out,
        NULL,
    };
    return suite_run("wake_lateness", SUITE_TIMEOUT_DEFAULT, tests);
}
