/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Blocks with a WCET, alone and nested with deadlines. Not here: violations at every instruction (steps),
 * and how soon a violation is noticed, which the benchmarks measure. */
#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "dlex_testing.h"

static void burn_cpu(int64_t ns)
{
    const int64_t end_ns = dlex_cpu_ns() + ns;
    while (dlex_cpu_ns() < end_ns)
        ;
}

static void sleep_for(int64_t ns)
{
    struct timespec rest = { ns / 1000000000, ns % 1000000000 };
    while (nanosleep(&rest, &rest) < 0 && errno == EINTR)
        ;
}

START_TEST(body_that_uses_more_cpu_time_is_left)
{
    const struct dlex_type *volatile caught = NULL;
    dlex_try_within_wcet(2 * MS) {
        burn_cpu(HOUR);
    } dlex_handle dlex_when(dlex_wcet_violation) {
        caught = dlex_caught();
    } dlex_end
    ck_assert_ptr_eq(caught, &dlex_wcet_violation);
}
END_TEST

START_TEST(violation_is_never_early)
{
    for (volatile int64_t ns = 1000; ns < 3 * MS; ns += 50 * 1000) {
        const int64_t start_ns = dlex_cpu_ns();
        volatile int64_t used_ns = 0;
        dlex_try_within_wcet(ns) {
            burn_cpu(HOUR);
        } dlex_handle dlex_when(dlex_wcet_violation) {
            used_ns = dlex_cpu_ns() - start_ns;
        } dlex_end
        ck_assert_int_ge(used_ns, ns);
        const struct dlex_violation *v = dlex_last_violation();
        ck_assert_ptr_eq(v->type, &dlex_wcet_violation);
        ck_assert_int_ge(v->deadline_ns, start_ns + ns);
        ck_assert_int_ge(v->noticed_ns, v->deadline_ns);
        ck_assert_int_ge(v->caught_ns, v->noticed_ns);
        ck_assert_int_eq(dlex_expired_ns(), v->caught_ns - v->deadline_ns);
    }
}
END_TEST

START_TEST(body_that_sleeps_past_the_time_is_not_left)
{
    log_clear();
    dlex_try_within_wcet(20 * MS) {
        sleep_for(60 * MS);
        log_mark('b');
    } dlex_handle dlex_when(dlex_wcet_violation) {
        log_mark('w');
    } dlex_end
    ck_assert_str_eq(log_text(), "b");
}
END_TEST

START_TEST(sleep_does_not_count_and_computing_after_it_does)
{
    log_clear();
    dlex_try_within_wcet(5 * MS) {
        sleep_for(20 * MS);
        log_mark('s');
        burn_cpu(HOUR);
        log_mark('x');
    } dlex_handle dlex_when(dlex_wcet_violation) {
        log_mark('w');
    } dlex_end
    ck_assert_str_eq(log_text(), "sw");
}
END_TEST

#ifdef NOTIFICATION_LINUX
static void *write_later(void *end)
{
    sleep_for(400 * MS);
    while (write(*(const int *)end, "x", 1) < 0)
        ;
    return NULL;
}

/* Each look at the CPU time wakes the thread and uses CPU time, so a WCET of 1 ms would last for only
 * about 50 ms of sleep. */
START_TEST(long_sleep_does_not_use_up_the_wcet_and_computing_after_it_does)
{
    int ends[2];
    pthread_t writer;
    log_clear();
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(pthread_create(&writer, NULL, write_later, &ends[1]), 0);
    volatile char got = 0;
    dlex_try_within_wcet(2 * MS) {
        while (read(ends[0], (void *)&got, 1) < 0)
            ;
        log_mark(got);
        burn_cpu(HOUR);
    } dlex_handle dlex_when(dlex_wcet_violation) {
        log_mark('w');
    } dlex_end
    pthread_join(writer, NULL);
    close(ends[0]);
    close(ends[1]);
    ck_assert_str_eq(log_text(), "xw");
    ck_assert_int_ge(dlex_expired_ns(), 0);
}
END_TEST
#endif

static void *compete(void *stop)
{
    while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED))
        ;
    return NULL;
}

START_TEST(time_of_other_threads_does_not_count)
{
    enum { RIVALS = 4 };
    pthread_t rivals[RIVALS];
    int stop = 0;
    for (int i = 0; i < RIVALS; i++)
        pthread_create(&rivals[i], NULL, compete, &stop);
    const int64_t start_ns = dlex_cpu_ns();
    volatile int64_t used_ns = 0;
    dlex_try_within_wcet(20 * MS) {
        burn_cpu(HOUR);
    } dlex_handle dlex_when(dlex_wcet_violation) {
        used_ns = dlex_cpu_ns() - start_ns;
    } dlex_end
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < RIVALS; i++)
        pthread_join(rivals[i], NULL);
    ck_assert_int_ge(used_ns, 20 * MS);
}
END_TEST

START_TEST(time_of_zero_or_less_is_a_violation_before_the_body)
{
    static const int64_t none[] = { 0, -1, -HOUR, INT64_MIN };
    for (unsigned i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        log_clear();
        dlex_try_within_wcet(none[i]) {
            log_mark('x');
        } dlex_handle dlex_when(dlex_wcet_violation) {
            log_mark('w');
        } dlex_end
        ck_assert_str_eq(log_text(), "w");
    }
}
END_TEST

START_TEST(infinite_time_is_no_constraint)
{
    log_clear();
    dlex_try_within_wcet(INT64_MAX) {
        ck_assert_int_gt(dlex_remaining_ns(), HOUR);
        log_mark('b');
    } dlex_handle dlex_when_any {
        log_mark('x');
    } dlex_end
    ck_assert_str_eq(log_text(), "b");
}
END_TEST

START_TEST(deadline_inside_a_wcet_is_handled_by_its_own_block)
{
    log_clear();
    dlex_try_within_wcet(HOUR) {
        dlex_try_within_rel(2 * MS) {
            burn(HOUR);
        } dlex_handle dlex_when(dlex_wcet_violation) {
            log_mark('x');
        } dlex_when(dlex_deadline_violation) {
            log_mark('d');
        } dlex_end
        log_mark('b');
    } dlex_handle dlex_when(dlex_timing_violation) {
        log_mark('y');
    } dlex_end
    ck_assert_str_eq(log_text(), "db");
}
END_TEST

START_TEST(outer_wcet_skips_a_deadline_block_and_runs_its_finally)
{
    log_clear();
    dlex_try_within_wcet(2 * MS) {
        dlex_try_within_rel(HOUR) {
            burn_cpu(HOUR);
        } dlex_finally {
            log_mark('f');
        } dlex_handle dlex_when(dlex_timing_violation) {
            log_mark('x');
        } dlex_end
    } dlex_handle dlex_when(dlex_wcet_violation) {
        log_mark('w');
    } dlex_end
    ck_assert_str_eq(log_text(), "fw");
}
END_TEST

START_TEST(outer_deadline_is_delivered_before_an_inner_wcet_when_both_have_expired)
{
    log_clear();
    const int64_t deadline_ns = dlex_now_ns() + SOON;
    dlex_try_within_abs(deadline_ns) {
        dlex_try_within_wcet(2 * MS) {
            dlex_try_within_disable();
            burn_cpu(10 * MS);
            burn_until(deadline_ns + MS);
            dlex_try_within_enable();
            log_mark('x');
        } dlex_finally {
            log_mark('f');
        } dlex_handle dlex_when_any {
            log_mark('y');
        } dlex_end
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "fd");
}
END_TEST

START_TEST(constraint_ends_with_its_block)
{
    log_clear();
    dlex_try_within_rel(HOUR) {
        dlex_try_within_wcet(2 * MS) {
            log_mark('b');
        } dlex_handle dlex_when_any {
            log_mark('x');
        } dlex_end
        burn_cpu(10 * MS);
        log_mark('o');
    } dlex_handle dlex_when_any {
        log_mark('y');
    } dlex_end
    ck_assert_str_eq(log_text(), "bo");
}
END_TEST

START_TEST(protected_section_delays_the_violation)
{
    log_clear();
    dlex_try_within_wcet(2 * MS) {
        dlex_try_within_disable();
        burn_cpu(10 * MS);
        log_mark('p');
        dlex_try_within_enable();
        log_mark('x');
    } dlex_handle dlex_when(dlex_wcet_violation) {
        log_mark('w');
    } dlex_end
    ck_assert_str_eq(log_text(), "pw");
    const struct dlex_violation *v = dlex_last_violation();
    ck_assert_int_ge(v->released_ns, v->noticed_ns);
    ck_assert_int_ge(v->released_ns - v->deadline_ns, 7 * MS);
}
END_TEST

START_TEST(remaining_time_is_cpu_time_and_that_of_the_earlier_constraint)
{
    volatile int64_t first_ns = 0, slept_ns = 0, inner_ns = 0, deadline_ns = 0;
    dlex_try_within_wcet(HOUR) {
        first_ns = dlex_remaining_ns();
        sleep_for(20 * MS);
        slept_ns = dlex_remaining_ns();
        deadline_ns = dlex_deadline_ns();
        dlex_try_within_rel(HOUR / 2) {
            inner_ns = dlex_remaining_ns();
        } dlex_end
    } dlex_end
    ck_assert_int_le(first_ns, HOUR);
    ck_assert_int_gt(slept_ns, first_ns - 15 * MS);
    ck_assert_int_eq(deadline_ns, INT64_MAX);
    ck_assert_int_le(inner_ns, HOUR / 2);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        body_that_uses_more_cpu_time_is_left,
        violation_is_never_early,
        body_that_sleeps_past_the_time_is_not_left,
        sleep_does_not_count_and_computing_after_it_does,
#ifdef NOTIFICATION_LINUX
        long_sleep_does_not_use_up_the_wcet_and_computing_after_it_does,
#endif
        time_of_other_threads_does_not_count,
        time_of_zero_or_less_is_a_violation_before_the_body,
        infinite_time_is_no_constraint,
        deadline_inside_a_wcet_is_handled_by_its_own_block,
        outer_wcet_skips_a_deadline_block_and_runs_its_finally,
        outer_deadline_is_delivered_before_an_inner_wcet_when_both_have_expired,
        constraint_ends_with_its_block,
        protected_section_delays_the_violation,
        remaining_time_is_cpu_time_and_that_of_the_earlier_constraint,
        NULL,
    };
    return suite_run("libdlex wcet", 120, tests);
}
