/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Deadline blocks of one thread. Not here: protected sections and shields. How late a notification is
 * can only be measured, not tested. */
#include <errno.h>
#include <fenv.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "dlex_testing.h"

dlex_define_exception(some_error) dlex_extends(dlex_exception);

START_TEST(late_body_is_abandoned_and_its_violation_handled)
{
    log_clear();
    const int64_t start_ns = dlex_now_ns();
    dlex_try_within_rel(5 * MS) {
        burn(HOUR);
        log_mark('x');
    } dlex_finally {
        log_mark('f');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "fd");
    const struct dlex_violation *v = dlex_last_violation();
    ck_assert_int_ge(v->deadline_ns, start_ns + 5 * MS);
    ck_assert_int_ge(v->noticed_ns, v->deadline_ns);
    ck_assert_int_eq(v->released_ns, 0);
    ck_assert_int_ge(v->caught_ns, v->noticed_ns);
    ck_assert_int_eq(dlex_expired_ns(), v->caught_ns - v->deadline_ns);
}
END_TEST

START_TEST(body_that_ends_in_time_gets_no_violation)
{
    log_clear();
    dlex_try_within_rel(HOUR) {
        log_mark('b');
    } dlex_finally {
        log_mark('f');
    } dlex_handle dlex_when_any {
        log_mark('x');
    } dlex_end
    ck_assert_str_eq(log_text(), "bf");
}
END_TEST

START_TEST(handler_for_any_timing_violation_takes_a_deadline_violation)
{
    log_clear();
    dlex_try_within_abs(dlex_now_ns() + MS) {
        burn(HOUR);
    } dlex_handle dlex_when(some_error) {
        log_mark('x');
    } dlex_when(dlex_timing_violation) {
        log_mark('t');
    } dlex_end
    ck_assert_str_eq(log_text(), "t");
}
END_TEST

START_TEST(deadline_in_the_past_is_a_violation_before_the_body)
{
    const int64_t past[] = { -HOUR, 0, 1, dlex_now_ns() };
    for (volatile int i = 0; i < 4; i++) {
        log_clear();
        dlex_try_within_abs(past[i]) {
            log_mark('x');
        } dlex_finally {
            log_mark('f');
        } dlex_handle dlex_when(dlex_deadline_violation) {
            log_mark('d');
        } dlex_end
        ck_assert_str_eq(log_text(), "fd");
        ck_assert_int_eq(dlex_last_violation()->deadline_ns, past[i]);
    }
}
END_TEST

START_TEST(relative_time_that_overflows_means_never_or_at_once)
{
    log_clear();
    dlex_try_within_rel(INT64_MAX) {
        log_mark('n');
        if (dlex_remaining_ns() == INT64_MAX)
            log_mark('m');
    } dlex_end
    dlex_try_within_rel(INT64_MIN) {
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "nmd");
}
END_TEST

START_TEST(outer_deadline_skips_inner_handlers_and_runs_their_finally_once)
{
    log_clear();
    dlex_try_within_rel(SOON) {
        dlex_try_within_rel(HOUR) {
            dlex_try {
                burn(HOUR);
            } dlex_finally {
                log_mark('1');
            } dlex_handle dlex_when_any {
                log_mark('x');
            } dlex_end
        } dlex_finally {
            log_mark('2');
        } dlex_handle dlex_when(dlex_deadline_violation) {
            log_mark('y');
        } dlex_when(dlex_timing_violation) {
            log_mark('z');
        } dlex_end
        log_mark('w');
    } dlex_finally {
        log_mark('3');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('o');
    } dlex_end
    ck_assert_str_eq(log_text(), "123o");
}
END_TEST

START_TEST(inner_deadline_is_handled_inside_and_the_outer_body_goes_on)
{
    log_clear();
    dlex_try_within_rel(HOUR) {
        dlex_try_within_rel(2 * MS) {
            burn(HOUR);
        } dlex_handle dlex_when(dlex_deadline_violation) {
            log_mark('i');
        } dlex_end
        log_mark('b');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('x');
    } dlex_end
    ck_assert_str_eq(log_text(), "ib");
}
END_TEST

START_TEST(outer_deadline_still_holds_after_an_inner_violation)
{
    log_clear();
    dlex_try_within_rel(10 * MS) {
        for (volatile int i = 0; i < 2; i++) {
            dlex_try_within_rel(MS) {
                burn(HOUR);
            } dlex_handle dlex_when(dlex_deadline_violation) {
                log_mark('i');
            } dlex_end
        }
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('o');
    } dlex_end
    /* On a busy machine the outer deadline may pass before both inner deadlines. */
    ck_assert_int_eq(log_text()[strlen(log_text()) - 1], 'o');
}
END_TEST

START_TEST(outermost_of_two_expired_deadlines_is_delivered)
{
    log_clear();
    const int64_t deadline_ns = dlex_now_ns() + SOON;
    dlex_try_within_abs(deadline_ns) {
        dlex_try_within_abs(deadline_ns) {
            burn(HOUR);
        } dlex_finally {
            log_mark('f');
        } dlex_handle dlex_when(dlex_deadline_violation) {
            log_mark('x');
        } dlex_end
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('o');
    } dlex_end
    ck_assert_str_eq(log_text(), "fo");
}
END_TEST

START_TEST(violation_without_a_handler_becomes_an_ordinary_exception)
{
    log_clear();
    dlex_try {
        dlex_try_within_rel(MS) {
            burn(HOUR);
        } dlex_finally {
            log_mark('f');
        } dlex_handle dlex_when(some_error) {
            log_mark('x');
        } dlex_end
    } dlex_handle dlex_when(dlex_timing_violation) {
        log_mark('o');
    } dlex_end
    ck_assert_str_eq(log_text(), "fo");
}
END_TEST

START_TEST(rethrown_violation_is_taken_by_the_next_handler_of_its_type)
{
    log_clear();
    dlex_try_within_rel(HOUR) {
        dlex_try_within_rel(MS) {
            burn(HOUR);
        } dlex_handle dlex_when(dlex_deadline_violation) {
            log_mark('i');
            dlex_rethrow();
        } dlex_end
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('o');
    } dlex_end
    ck_assert_str_eq(log_text(), "io");
}
END_TEST

START_TEST(handler_is_outside_its_own_constraint_and_inside_the_outer_one)
{
    log_clear();
    dlex_try_within_rel(8 * MS) {
        dlex_try_within_rel(MS) {
            burn(HOUR);
        } dlex_handle dlex_when(dlex_deadline_violation) {
            log_mark('i');
            burn(HOUR);
            log_mark('x');
        } dlex_end
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('o');
    } dlex_end
    const char *last = log_text() + strlen(log_text()) - 1;
    ck_assert_str_eq(last, "o");
    ck_assert_ptr_null(strchr(log_text(), 'x'));
}
END_TEST

START_TEST(finally_is_not_interrupted_by_an_outer_deadline)
{
    log_clear();
    const int64_t outer_ns = dlex_now_ns() + SOON;
    dlex_try_within_abs(outer_ns) {
        dlex_try {
            log_mark('b');
        } dlex_finally {
            outlast(outer_ns);
            log_mark('f');
        } dlex_end
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('o');
    } dlex_end
    ck_assert_str_eq(log_text(), "bfo");
    ck_assert_int_ne(dlex_last_violation()->released_ns, 0);
}
END_TEST

START_TEST(exception_ends_the_constraint_of_the_block_that_it_leaves)
{
    log_clear();
    dlex_try {
        dlex_try_within_rel(SOON) {
            dlex_throw(some_error);
        } dlex_end
    } dlex_handle dlex_when(some_error) {
        log_mark('s');
        burn(2 * SOON);
        log_mark('e');
    } dlex_end
    ck_assert_str_eq(log_text(), "se");
}
END_TEST

static void return_within(int64_t ns)
{
    dlex_try_within_rel(ns) {
        return;
    } dlex_end
}

START_TEST(return_out_of_a_body_ends_its_constraint)
{
    log_clear();
    dlex_try {
        return_within(SOON);
        burn(2 * SOON);
        log_mark('b');
    } dlex_handle dlex_when_any {
        log_mark('x');
    } dlex_end
    ck_assert_str_eq(log_text(), "b");
}
END_TEST

START_TEST(leftover_expiry_does_not_disturb_a_sleep_after_idle)
{
    return_within(SOON);
    dlex_idle();
    const struct timespec nap = { .tv_nsec = 2 * SOON };
    ck_assert_int_eq(clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL), 0);
}
END_TEST

START_TEST(leftover_expiry_interrupts_a_sleep_at_most_once)
{
    return_within(SOON);
    struct timespec wake;
    clock_gettime(CLOCK_MONOTONIC, &wake);
    wake.tv_sec += 1;
    int interruptions = 0;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL) == EINTR)
        interruptions++;
    ck_assert_int_le(interruptions, 1);
}
END_TEST

START_TEST(idle_keeps_the_deadline_of_an_open_block)
{
    log_clear();
    dlex_try_within_rel(2 * SOON) {
        return_within(SOON);
        dlex_idle();
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "d");
}
END_TEST

START_TEST(remaining_time_is_that_of_the_earliest_open_deadline)
{
    volatile int64_t outside = 0, outer = 0, inner = 0;
    outside = dlex_remaining_ns();
    dlex_try_within_rel(HOUR) {
        outer = dlex_remaining_ns();
        dlex_try_within_rel(2 * HOUR) {
            inner = dlex_remaining_ns();
        } dlex_end
    } dlex_end
    ck_assert_int_eq(outside, INT64_MAX);
    ck_assert_int_le(outer, HOUR);
    ck_assert_int_gt(outer, 0);
    ck_assert_int_le(inner, outer);
}
END_TEST

static void on_other_signal(int number)
{
    (void)number;
}

START_TEST(errno_is_that_of_the_interrupted_body)
{
    volatile int seen = 0;
    dlex_try_within_rel(3 * MS) {
        errno = EXDEV;
        for (volatile int forever = 1; forever;)
            ;
    } dlex_handle dlex_when(dlex_deadline_violation) {
        seen = errno;
    } dlex_end
    ck_assert_int_eq(seen, EXDEV);
}
END_TEST

START_TEST(jump_restores_rounding_and_leaves_the_signal_mask_alone)
{
    sigset_t before, after;
    sigprocmask(SIG_SETMASK, NULL, &before);
    signal(SIGUSR1, on_other_signal);
    fesetround(FE_UPWARD);
    dlex_try_within_rel(3 * MS) {
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    const int rounding = fegetround();
    dlex_try_within_rel(3 * MS) {
        fesetround(FE_DOWNWARD);
        burn(HOUR);
    } dlex_handle dlex_when_any {
        log_mark('e');
    } dlex_end
    const int rounding_again = fegetround();
    fesetround(FE_TONEAREST);
    sigprocmask(SIG_SETMASK, NULL, &after);
    ck_assert_int_eq(rounding, FE_UPWARD);
    ck_assert_int_eq(rounding_again, FE_UPWARD);
    for (int s = 1; s < SIGRTMAX; s++)
        ck_assert_int_eq(sigismember(&before, s), sigismember(&after, s));
}
END_TEST

/* Is the block with this deadline and this amount of work left early, or not left when stuck? */
static bool random_block_is_wrong(int64_t deadline_ns, int64_t work_ns, volatile int *left)
{
    volatile bool violated = false, early = false;
    dlex_try_within_abs(deadline_ns) {
        burn(work_ns);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        violated = true;
        early = dlex_now_ns() < deadline_ns || dlex_last_violation()->deadline_ns != deadline_ns;
    } dlex_end
    *left += violated;
    return early || (work_ns == HOUR && !violated);
}

START_TEST(storm_of_random_blocks_never_fires_early_and_loses_nothing)
{
    unsigned short seed[3] = { 1, 2, 3 };
    volatile int left = 0;
    int wrong = 0;
    for (int i = 0; i < 100000; i++) {
        const int64_t within_ns = nrand48(seed) % 20000;
        const int64_t work_ns = nrand48(seed) % 64 ? nrand48(seed) % 2000 : HOUR;
        wrong += random_block_is_wrong(dlex_now_ns() + within_ns, work_ns, &left);
    }
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_ge(left, 1000);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        late_body_is_abandoned_and_its_violation_handled,
        body_that_ends_in_time_gets_no_violation,
        handler_for_any_timing_violation_takes_a_deadline_violation,
        deadline_in_the_past_is_a_violation_before_the_body,
        relative_time_that_overflows_means_never_or_at_once,
        outer_deadline_skips_inner_handlers_and_runs_their_finally_once,
        inner_deadline_is_handled_inside_and_the_outer_body_goes_on,
        outer_deadline_still_holds_after_an_inner_violation,
        outermost_of_two_expired_deadlines_is_delivered,
        violation_without_a_handler_becomes_an_ordinary_exception,
        rethrown_violation_is_taken_by_the_next_handler_of_its_type,
        handler_is_outside_its_own_constraint_and_inside_the_outer_one,
        finally_is_not_interrupted_by_an_outer_deadline,
        exception_ends_the_constraint_of_the_block_that_it_leaves,
        return_out_of_a_body_ends_its_constraint,
        leftover_expiry_does_not_disturb_a_sleep_after_idle,
        leftover_expiry_interrupts_a_sleep_at_most_once,
        idle_keeps_the_deadline_of_an_open_block,
        remaining_time_is_that_of_the_earliest_open_deadline,
        errno_is_that_of_the_interrupted_body,
        jump_restores_rounding_and_leaves_the_signal_mask_alone,
        storm_of_random_blocks_never_fires_early_and_loses_nothing,
        NULL,
    };
    return suite_run("libdlex deadlines", 120, tests);
}
