/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The statistics of how late violations are taken. Not here: how late they are, which the benchmarks
 * measure; the precision of a histogram (test_dlex_histogram.c). */
#include <math.h>
#include <pthread.h>

#include "dlex_testing.h"

static struct dlex_latency latency_of(const struct dlex_type *type)
{
    struct dlex_latency latency;
    dlex_latency_read(type, &latency);
    return latency;
}

static void miss_a_deadline(void)
{
    dlex_try_within_rel(1000) {
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
    } dlex_end
}

static void exceed_a_wcet(void)
{
    dlex_try_within_wcet(1000) {
        burn(HOUR);
    } dlex_handle dlex_when(dlex_wcet_violation) {
    } dlex_end
}

static void burn_until_after(int64_t deadline_ns)
{
    burn_until(deadline_ns + MS);
}

START_TEST(without_a_violation_all_is_zero)
{
    dlex_latency_reset();
    dlex_try_within_rel(HOUR) {
    } dlex_end
    const struct dlex_latency none = latency_of(&dlex_timing_violation);
    const struct dlex_latency zero = { 0 };
    ck_assert_mem_eq(&none, &zero, sizeof(zero));
}
END_TEST

START_TEST(figures_match_each_violation)
{
    enum { TIMES = 50 };
    double sum_ns = 0, late_ns[TIMES], squares = 0;
    int64_t min_ns = INT64_MAX, max_ns = 0;
    dlex_latency_reset();
    for (int i = 0; i < TIMES; i++) {
        miss_a_deadline();
        const int64_t ns = dlex_expired_ns();
        late_ns[i] = (double)ns;
        sum_ns += late_ns[i];
        min_ns = ns < min_ns ? ns : min_ns;
        max_ns = ns > max_ns ? ns : max_ns;
    }
    for (int i = 0; i < TIMES; i++)
        squares += pow(late_ns[i] - sum_ns / TIMES, 2);
    const struct dlex_latency l = latency_of(&dlex_deadline_violation);
    ck_assert_uint_eq(l.count, TIMES);
    ck_assert_uint_eq(l.delayed, 0);
    ck_assert_int_eq(l.min_ns, min_ns);
    ck_assert_int_eq(l.max_ns, max_ns);
    ck_assert_double_eq_tol(l.mean_ns, sum_ns / TIMES, 1);
    ck_assert_double_eq_tol(l.stddev_ns, sqrt(squares / TIMES), 1);
    ck_assert_int_ge(l.p50_ns, min_ns);
    ck_assert_int_ge(l.p90_ns, l.p50_ns);
    ck_assert_int_ge(l.p99_ns, l.p90_ns);
    ck_assert_int_ge(max_ns, l.p99_ns);
}
END_TEST

START_TEST(kinds_are_counted_separately_and_together)
{
    dlex_latency_reset();
    for (int i = 0; i < 3; i++)
        miss_a_deadline();
    exceed_a_wcet();
    ck_assert_uint_eq(latency_of(&dlex_deadline_violation).count, 3);
    ck_assert_uint_eq(latency_of(&dlex_wcet_violation).count, 1);
    ck_assert_uint_eq(latency_of(&dlex_timing_violation).count, 4);
    ck_assert_uint_eq(latency_of(&dlex_exception).count, 4);
    ck_assert_uint_eq(latency_of(&dlex_timer_error).count, 0);
}
END_TEST

START_TEST(violation_that_waited_for_a_section_is_delayed)
{
    dlex_latency_reset();
    miss_a_deadline();
    ck_assert_str_eq(log_of_protected(burn_until_after), "po");
    const struct dlex_latency late = latency_of(&dlex_deadline_violation);
    ck_assert_uint_eq(late.count, 2);
    ck_assert_uint_eq(late.delayed, 1);
}
END_TEST

START_TEST(violation_that_passes_inner_blocks_counts_once)
{
    dlex_latency_reset();
    dlex_try_within_rel(MS) {
        dlex_try {
            dlex_try_within_rel(HOUR) {
                burn(HOUR);
            } dlex_finally {
                log_mark('f');
            } dlex_end
        } dlex_end
    } dlex_handle dlex_when(dlex_deadline_violation) {
    } dlex_end
    ck_assert_uint_eq(latency_of(&dlex_timing_violation).count, 1);
}
END_TEST

START_TEST(rethrown_violation_is_not_counted_again)
{
    dlex_latency_reset();
    dlex_try_within_rel(HOUR) {
        dlex_try_within_rel(1000) {
            burn(HOUR);
        } dlex_handle dlex_when(dlex_deadline_violation) {
            dlex_rethrow();
        } dlex_end
    } dlex_handle dlex_when(dlex_deadline_violation) {
    } dlex_end
    ck_assert_uint_eq(latency_of(&dlex_timing_violation).count, 1);
}
END_TEST

static void *miss_deadlines(void *arg)
{
    (void)arg;
    for (int i = 0; i < 100; i++)
        miss_a_deadline();
    return NULL;
}

START_TEST(violations_of_all_threads_count)
{
    dlex_latency_reset();
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, miss_deadlines, NULL), 0);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_uint_eq(latency_of(&dlex_deadline_violation).count, 400);
}
END_TEST

START_TEST(reset_forgets_both_kinds)
{
    miss_a_deadline();
    exceed_a_wcet();
    dlex_latency_reset();
    const struct dlex_latency none = latency_of(&dlex_exception);
    ck_assert_uint_eq(none.count, 0);
    ck_assert_int_eq(none.max_ns, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        without_a_violation_all_is_zero,
        figures_match_each_violation,
        kinds_are_counted_separately_and_together,
        violation_that_waited_for_a_section_is_delayed,
        violation_that_passes_inner_blocks_counts_once,
        rethrown_violation_is_not_counted_again,
        violations_of_all_threads_count,
        reset_forgets_both_kinds,
        NULL,
    };
    return suite_run("libdlex latency", 120, tests);
}
