/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Violations and parallel regions of OpenMP: what dlex(7) says of them. Not here: tasks, and other runtimes than the
 * compiler's own. */
#include <omp.h>

#include "dlex_testing.h"

enum { THREADS = 3 };

static int threads_of_a_region(void)
{
    int threads = 0;
#pragma omp parallel reduction(+ : threads)
    threads += 1;
    return threads;
}

static int be_late(int64_t deadline_ns)
{
    volatile int late = 0;
    dlex_try_within_abs(deadline_ns) {
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        late = 1;
    } dlex_end
    return late;
}

START_TEST(block_of_each_thread_inside_a_region_is_left_alone)
{
    const int64_t deadline_ns = dlex_now_ns() + 20 * MS;
    int late = 0;
#pragma omp parallel reduction(+ : late)
    late += be_late(deadline_ns);
    ck_assert_int_eq(late, THREADS);
    ck_assert_int_eq(threads_of_a_region(), THREADS);
}
END_TEST

START_TEST(region_in_a_protected_section_ends_before_the_violation)
{
    volatile int threads = 0;
    log_clear();
    dlex_try_within_rel(SOON) {
        dlex_try_within_disable();
        threads = threads_of_a_region();
        outlast(dlex_deadline_ns());
        dlex_try_within_enable();
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "d");
    ck_assert_int_eq(threads, THREADS);
    ck_assert_int_eq(threads_of_a_region(), THREADS);
}
END_TEST

/* Not what a program wants. If it changes, dlex(7) is to be changed. */
START_TEST(region_that_is_left_has_one_thread_from_then_on)
{
    log_clear();
    dlex_try_within_rel(20 * MS) {
#pragma omp parallel
        if (omp_get_thread_num() == 0)
            burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "d");
    ck_assert_int_eq(omp_get_level(), 1);
    ck_assert_int_eq(threads_of_a_region(), 1);
}
END_TEST

int main(void)
{
    /* In this order: the last one leaves its region. */
    const TTest *const tests[] = {
        block_of_each_thread_inside_a_region_is_left_alone,
        region_in_a_protected_section_ends_before_the_violation,
        region_that_is_left_has_one_thread_from_then_on,
        NULL,
    };
    omp_set_dynamic(0);
    omp_set_max_active_levels(1);
    omp_set_num_threads(THREADS);
    return suite_run("libdlex openmp", 60, tests);
}
