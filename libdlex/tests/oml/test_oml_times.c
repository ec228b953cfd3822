/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Timing constraints in OML's syntax. Not here: how late a violation comes; threads; what the tests of
 * libdlex already test. */
#include <oml_exceptions.h>

#include "dlex_testing.h"

static struct timespec after(int64_t ns)
{
    return (struct timespec){ .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
}

static struct timespec at(int64_t ns)
{
    return after(dlex_now_ns() + ns);
}

static void compute_for_ever(void)
{
    for (;;)
        ;
}

START_TEST(body_that_misses_its_absolute_deadline_is_left)
{
    log_clear();
    oml_try_within_abs(at(SOON)) {
        compute_for_ever();
        log_mark('x');
    } oml_finally {
        log_mark('f');
    } oml_handle
        oml_when (oml_error) {
            log_mark('e');
        }
        oml_when (oml_ex_deadline_violation) {
            log_mark('d');
        }
        oml_when (oml_ex_time_constr_violation) {
            log_mark('t');
        }
    oml_end;
    ck_assert_str_eq(log_text(), "fd");
}
END_TEST

START_TEST(handler_for_all_time_constraints_takes_a_relative_deadline)
{
    const char *volatile name = NULL;
    const struct timespec soon = after(SOON);
    oml_try_within_rel(soon)
        compute_for_ever();
    oml_handle
        oml_when (oml_ex_time_constr_violation)
            name = oml_any.name;
    oml_end
    ck_assert_str_eq(name, oml_ex_deadline_violation.name);
}
END_TEST

START_TEST(body_that_ends_in_time_is_not_left_later)
{
    /* If the machine stalls for SOON, the body may be late. Then it runs again. */
    do {
        log_clear();
        oml_try_within_rel(after(SOON)) {
            log_mark('b');
        } oml_handle
            oml_when (oml_any) {
                log_mark('x');
            }
        oml_end;
    } while (strcmp(log_text(), "b") != 0);
    burn(2 * SOON);
    log_mark('a');
    ck_assert_str_eq(log_text(), "ba");
}
END_TEST

START_TEST(outer_deadline_skips_the_inner_handler_and_runs_the_inner_finally_once)
{
    log_clear();
    oml_try_within_rel(after(SOON)) {
        oml_try_within_rel(after(HOUR)) {
            compute_for_ever();
        } oml_finally {
            log_mark('f');
        } oml_handle
            oml_when (oml_ex_time_constr_violation) {
                log_mark('x');
            }
        oml_end;
        log_mark('y');
    } oml_finally {
        log_mark('g');
    } oml_handle
        oml_when (oml_ex_deadline_violation) {
            log_mark('o');
        }
    oml_end;
    ck_assert_str_eq(log_text(), "fgo");
}
END_TEST

START_TEST(inner_deadline_is_taken_inside_and_the_outer_one_is_still_enforced)
{
    log_clear();
    oml_try_within_rel(after(3 * SOON)) {
        oml_try_within_rel(after(SOON)) {
            compute_for_ever();
        } oml_handle
            oml_when (oml_ex_time_constr_violation) {
                log_mark('i');
            }
        oml_end;
        compute_for_ever();
    } oml_handle
        oml_when (oml_ex_time_constr_violation) {
            log_mark('o');
        }
    oml_end;
    /* If the machine stalled for 3 * SOON, both deadlines passed, and the outer one is delivered. */
    ck_assert(strcmp(log_text(), "io") == 0 || strcmp(log_text(), "o") == 0);
}
END_TEST

START_TEST(deadline_inside_finally_does_not_run_it_twice_as_the_original_does)
{
    log_clear();
    const int64_t deadline_ns = dlex_now_ns() + SOON;
    oml_try_within_abs(after(deadline_ns)) {
        oml_try {
            log_mark('b');
        } oml_finally {
            log_mark('f');
            burn_until(deadline_ns + SOON);
            log_mark('g');
        } oml_handle
        oml_end;
        log_mark('x');
    } oml_handle
        oml_when (oml_ex_deadline_violation) {
            log_mark('d');
        }
    oml_end;
    ck_assert_str_eq(log_text(), "bfgd");
}
END_TEST

static volatile int finally_parts;

static void nest(int levels)
{
    oml_try_within_rel(after(HOUR)) {
        if (levels > 1)
            nest(levels - 1);
        else
            compute_for_ever();
    } oml_finally {
        finally_parts = finally_parts + 1;
    } oml_handle
        oml_when (oml_any) {
            log_mark('x');
        }
    oml_end;
    log_mark('y');
}

START_TEST(deadline_unwinds_a_hundred_nested_blocks)
{
    log_clear();
    finally_parts = 0;
    oml_try_within_rel(after(SOON)) {
        nest(99);
    } oml_handle
        oml_when (oml_ex_deadline_violation) {
            log_mark('d');
        }
    oml_end;
    ck_assert_int_eq(finally_parts, 99);
    ck_assert_str_eq(log_text(), "d");
}
END_TEST

START_TEST(protected_section_delays_a_violation_to_the_outermost_enable)
{
    log_clear();
    const int64_t deadline_ns = dlex_now_ns() + SOON;
    oml_try_within_abs(after(deadline_ns)) {
        oml_try_within_disable();
        oml_try_within_disable();
        burn_until(deadline_ns + SOON);
        oml_try_within_enable();
        oml_try {
            log_mark('p');
        } oml_handle
        oml_end;
        oml_try_within_enable();
        log_mark('x');
    } oml_handle
        oml_when (oml_ex_deadline_violation) {
            log_mark('d');
        }
    oml_end;
    ck_assert_str_eq(log_text(), "pd");
}
END_TEST

START_TEST(enable_without_disable_does_nothing)
{
    log_clear();
    oml_try_within_enable();
    oml_try_within_rel(after(SOON)) {
        oml_try_within_enable();
        compute_for_ever();
    } oml_handle
        oml_when (oml_ex_deadline_violation) {
            log_mark('d');
        }
    oml_end;
    ck_assert_str_eq(log_text(), "d");
}
END_TEST

START_TEST(time_that_has_passed_is_a_violation_before_the_body)
{
    const struct timespec zero = { 0, 0 };
    log_clear();
    oml_try_within_abs(zero) {
        log_mark('x');
    } oml_handle
        oml_when (oml_ex_deadline_violation) {
            log_mark('a');
        }
    oml_end;
    oml_try_within_rel(zero) {
        log_mark('x');
    } oml_handle
        oml_when (oml_ex_deadline_violation) {
            log_mark('r');
        }
    oml_end;
    ck_assert_str_eq(log_text(), "ar");
}
END_TEST

START_TEST(time_too_far_for_nanoseconds_is_no_constraint)
{
    const struct timespec far = { .tv_sec = INT64_MAX, .tv_nsec = 999999999 };
    log_clear();
    oml_try_within_abs(far) {
        oml_try_within_rel(far) {
            if (dlex_remaining_ns() == INT64_MAX)
                log_mark('n');
        } oml_handle
        oml_end;
    } oml_handle
        oml_when (oml_any) {
            log_mark('x');
        }
    oml_end;
    ck_assert_str_eq(log_text(), "n");
}
END_TEST

START_TEST(integer_as_a_time_counts_microseconds)
{
    volatile int64_t left_ns = 0, without_limit_ns = 0;
    log_clear();
    oml_try_within_rel(HOUR / 1000) {
        left_ns = dlex_remaining_ns();
    } oml_handle
    oml_end;
    oml_try_within_abs(UINT64_MAX) {
        without_limit_ns = dlex_remaining_ns();
    } oml_handle
    oml_end;
    oml_try_within_wcet(INT64_MIN) {
        log_mark('x');
    } oml_handle
        oml_when (oml_ex_wcet_violation) {
            log_mark('w');
        }
    oml_end;
    ck_assert_int_gt(left_ns, HOUR / 2);
    ck_assert_int_le(left_ns, HOUR);
    ck_assert_int_eq(without_limit_ns, INT64_MAX);
    ck_assert_str_eq(log_text(), "w");
}
END_TEST

START_TEST(wcet_is_enforced_where_the_original_never_fires)
{
    log_clear();
    oml_try_within_wcet(after(SOON)) {
        compute_for_ever();
    } oml_finally {
        log_mark('f');
    } oml_handle
        oml_when (oml_ex_deadline_violation) {
            log_mark('x');
        }
        oml_when (oml_ex_wcet_violation) {
            log_mark('w');
        }
    oml_end;
    ck_assert_str_eq(log_text(), "fw");
    ck_assert_ptr_eq(oml_ex_wcet_violation.parent, &oml_ex_time_constr_violation);
}
END_TEST

START_TEST(thread_that_blocks_the_signal_by_its_oml_names_gets_its_violation_after_unblocking)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, OML_DEADLINE_SIGNAL);
    sigaddset(&set, OML_WCET_SIGNAL);
    log_clear();
    const int64_t deadline_ns = dlex_now_ns() + SOON;
    oml_try_within_abs(after(deadline_ns)) {
        pthread_sigmask(SIG_BLOCK, &set, NULL);
        burn_until(deadline_ns + SOON);
        log_mark('b');
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
        compute_for_ever();
    } oml_handle
        oml_when (oml_ex_deadline_violation) {
            log_mark('d');
        }
    oml_end;
    ck_assert_str_eq(log_text(), "bd");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        body_that_misses_its_absolute_deadline_is_left,
        handler_for_all_time_constraints_takes_a_relative_deadline,
        body_that_ends_in_time_is_not_left_later,
        outer_deadline_skips_the_inner_handler_and_runs_the_inner_finally_once,
        inner_deadline_is_taken_inside_and_the_outer_one_is_still_enforced,
        deadline_inside_finally_does_not_run_it_twice_as_the_original_does,
        deadline_unwinds_a_hundred_nested_blocks,
        protected_section_delays_a_violation_to_the_outermost_enable,
        enable_without_disable_does_nothing,
        time_that_has_passed_is_a_violation_before_the_body,
        time_too_far_for_nanoseconds_is_no_constraint,
        integer_as_a_time_counts_microseconds,
        wcet_is_enforced_where_the_original_never_fires,
        thread_that_blocks_the_signal_by_its_oml_names_gets_its_violation_after_unblocking,
        NULL,
    };
    return suite_run("oml times", 120, tests);
}
