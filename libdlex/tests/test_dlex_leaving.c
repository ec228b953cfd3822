/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Leaving a body early: dlex_return, and the plain exits that a finally part forbids. Not here:
 * plain exits from blocks without one (exceptions), the application's longjmp (hazards). */
#include <alloca.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dlex_testing.h"

dlex_define_exception(trouble) dlex_extends(dlex_exception);

static int return_through_finally(void)
{
    volatile int value = 7;
    dlex_try_within_rel(HOUR) {
        log_mark('b');
        dlex_return(value);
    } dlex_finally {
        value = 0;
        log_mark('f');
    } dlex_handle dlex_when_any {
        log_mark('x');
    } dlex_end
    log_mark('y');
    return -1;
}

START_TEST(dlex_return_computes_its_value_then_runs_finally_and_no_handler)
{
    log_clear();
    ck_assert_int_eq(return_through_finally(), 7);
    ck_assert_str_eq(log_text(), "bf");
    ck_assert_int_eq(dlex_remaining_ns(), INT64_MAX);
}
END_TEST

static void return_through_three(void)
{
    dlex_try {
        dlex_try_within_rel(HOUR) {
            dlex_try_within_wcet(HOUR) {
                dlex_return_void();
            } dlex_finally {
                log_mark('1');
            } dlex_end
            log_mark('x');
        } dlex_end
        log_mark('y');
    } dlex_finally {
        log_mark('3');
    } dlex_handle dlex_when_any {
        log_mark('z');
    } dlex_end
}

START_TEST(dlex_return_runs_the_finally_parts_of_the_function_only)
{
    log_clear();
    dlex_try {
        return_through_three();
        log_mark('b');
    } dlex_finally {
        log_mark('o');
    } dlex_end
    ck_assert_str_eq(log_text(), "13bo");
}
END_TEST

static const char *return_from_a_handler(void)
{
    dlex_try {
        dlex_try {
            dlex_throw(trouble);
        } dlex_finally {
            log_mark('i');
        } dlex_handle dlex_when(trouble) {
            dlex_return("text");
        } dlex_end
    } dlex_finally {
        log_mark('o');
    } dlex_end
    return NULL;
}

START_TEST(dlex_return_in_a_handler_runs_the_finally_parts_outside)
{
    log_clear();
    ck_assert_str_eq(return_from_a_handler(), "text");
    ck_assert_str_eq(log_text(), "io");
}
END_TEST

static int return_and_throw_in_finally(void)
{
    dlex_try {
        dlex_return(1);
    } dlex_finally {
        dlex_throw(trouble);
    } dlex_end
    return 2;
}

START_TEST(exception_in_finally_replaces_the_return)
{
    volatile int result = 0;
    dlex_try {
        result = return_and_throw_in_finally();
    } dlex_handle dlex_when(trouble) {
        result = 3;
    } dlex_end
    ck_assert_int_eq(result, 3);
}
END_TEST

static int return_when_late(void)
{
    const int64_t deadline_ns = dlex_now_ns() + SOON;
    dlex_try_within_abs(deadline_ns) {
        dlex_try {
            dlex_return(1);
        } dlex_finally {
            outlast(deadline_ns);
            log_mark('f');
        } dlex_end
    } dlex_handle dlex_when(dlex_deadline_violation) {
        return 2;
    } dlex_end
    return 3;
}

START_TEST(outer_deadline_that_passes_in_finally_replaces_the_return)
{
    log_clear();
    for (int i = 0; i < 100 && log_text()[0] != 'f'; i++) /* late before the body, when busy */
        ck_assert_int_eq(return_when_late(), 2);
    ck_assert_str_eq(log_text(), "f");
}
END_TEST

START_TEST(dlex_return_ends_sections_of_the_body)
{
    for (int i = 0; i < 3; i++)
        return_through_finally();
    log_clear();
    dlex_try_within_rel(2 * MS) {
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "d");
}
END_TEST

static void leave_plainly(int how)
{
    for (volatile int i = 0; i < 2; i++) {
        dlex_try_within_rel(HOUR) {
            if (how == 0)
                return;
            if (how == 1)
                break;
            if (how == 2)
                continue;
            goto out;
        } dlex_finally {
            log_mark('x');
        } dlex_end
    }
out:
    log_mark('e');
}

/* Returns what the child wrote on stderr. The child must abort. */
static void abort_of(int how, char *said, size_t size)
{
    int ends[2], status = 0;
    ck_assert_int_eq(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        leave_plainly(how);
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t got; /* stderr may arrive in pieces */
    while ((got = read(ends[0], said + length, size - 1 - length)) > 0)
        length += (size_t)got;
    said[length] = '\0';
    close(ends[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

START_TEST(plain_exit_past_finally_aborts_with_file_and_line)
{
    for (int how = 0; how < 4; how++) {
        char said[512];
        abort_of(how, said, sizeof(said));
        ck_assert_ptr_nonnull(strstr(said, "test_dlex_leaving.c:"));
        ck_assert_ptr_nonnull(strstr(said, "dlex_return"));
    }
}
END_TEST

__attribute__((noinline)) static void overwrite(void *memory, size_t size)
{
    memset(memory, 0x5a, size);
    __asm__ __volatile__("" : : "r"(memory) : "memory");
}

/* The value and the place of the return are in a scope that ends before these variables begin. */
static int return_past_variables_of_finally(int value)
{
    dlex_try {
        if (value)
            dlex_return(value);
    } dlex_finally {
        sigjmp_buf as_large;
        overwrite(&as_large, sizeof(as_large));
        int as_small[2];
        overwrite(as_small, sizeof(as_small));
    } dlex_end
    return 0;
}

START_TEST(variables_of_finally_do_not_overwrite_the_value_of_dlex_return)
{
    ck_assert_int_eq(return_past_variables_of_finally(5), 5);
}
END_TEST

static int return_again_in_finally(void)
{
    dlex_try {
        dlex_return(1);
    } dlex_finally {
        dlex_return(2);
    } dlex_end
    return 0;
}

static int return_in_a_finally_in_a_section(void)
{
    dlex_try {
        dlex_try_within_disable();
        dlex_try {
            log_mark('b');
        } dlex_finally {
            dlex_return(3);
        } dlex_end
        dlex_try_within_enable();
    } dlex_end
    return 0;
}

static int return_in_a_finally_in_an_island(void)
{
    dlex_try_within_rel_shielded(HOUR) {
        dlex_try {
            log_mark('b');
        } dlex_finally {
            dlex_return(4);
        } dlex_end
    } dlex_end
    return 0;
}

START_TEST(dlex_return_in_finally_works_and_keeps_the_sections_of_the_caller)
{
    ck_assert_int_eq(return_again_in_finally(), 2);
    ck_assert_int_eq(dlex_guard_.depth, 0);
    ck_assert_int_eq(return_in_a_finally_in_a_section(), 3);
    ck_assert_int_eq(dlex_guard_.depth, 0);
    dlex_try_within_disable();
    const int value = return_in_a_finally_in_an_island();
    const int depth = dlex_guard_.depth;
    dlex_guard_.depth = 0;
    ck_assert_int_eq(value, 4);
    ck_assert_int_eq(depth, 1);
}
END_TEST

/* The place of the return lies below the frame of the finally part, so glibc's checked longjmp refuses it. */
static int return_past_an_array(size_t size)
{
    dlex_try {
        char *array = alloca(size);
        overwrite(array, size);
        dlex_return(array[size / 2]);
    } dlex_finally {
        char other[512];
        overwrite(other, sizeof(other));
    } dlex_end
    return -1;
}

START_TEST(dlex_return_works_in_a_body_that_enlarged_its_frame)
{
    for (size_t size = 16; size < 100000; size *= 3)
        ck_assert_int_eq(return_past_an_array(size), 0x5a);
}
END_TEST

/* A violation of an outer block runs a finally part of an inner one. There are three ways in which that
 * part may leave without going on to the outer block. */
static void stop_by_an_exception(void)
{
    dlex_try {
        dlex_try {
            burn(HOUR);
        } dlex_finally {
            dlex_throw(trouble);
        } dlex_end
    } dlex_handle dlex_when(trouble) {
        log_mark('t');
    } dlex_end
}

static int stop_by_dlex_return(void)
{
    dlex_try {
        burn(HOUR);
    } dlex_finally {
        dlex_return(1);
    } dlex_end
    return 0;
}

static void stop_by_return(void)
{
    dlex_try {
        burn(HOUR);
    } dlex_finally {
        return;
    } dlex_end
}

static void stop(int how)
{
    if (how == 0)
        stop_by_an_exception();
    else if (how == 1)
        stop_by_dlex_return();
    else
        stop_by_return();
}

START_TEST(violation_is_still_taken_if_finally_stops_it_on_its_way)
{
    log_clear();
    for (int how = 0; how < 3; how++) {
        dlex_try_within_rel(5 * MS) {
            stop(how);
            log_mark('x');
        } dlex_handle dlex_when(dlex_deadline_violation) {
            log_mark('d');
        } dlex_end
    }
    ck_assert_str_eq(log_text(), "ddd");
    ck_assert_int_eq(dlex_guard_.depth, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        dlex_return_computes_its_value_then_runs_finally_and_no_handler,
        dlex_return_runs_the_finally_parts_of_the_function_only,
        dlex_return_in_a_handler_runs_the_finally_parts_outside,
        exception_in_finally_replaces_the_return,
        outer_deadline_that_passes_in_finally_replaces_the_return,
        dlex_return_ends_sections_of_the_body,
        plain_exit_past_finally_aborts_with_file_and_line,
        dlex_return_works_in_a_body_that_enlarged_its_frame,
        variables_of_finally_do_not_overwrite_the_value_of_dlex_return,
        dlex_return_in_finally_works_and_keeps_the_sections_of_the_caller,
        violation_is_still_taken_if_finally_stops_it_on_its_way,
        NULL,
    };
    return suite_run("libdlex leaving", 120, tests);
}
