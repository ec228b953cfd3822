/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Exceptions without clocks. Not here: deadlines, and exceptions in several threads. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dlex_testing.h"

dlex_define_exception(io_error) dlex_extends(dlex_exception);
dlex_define_exception(disk_error) dlex_extends(io_error);
dlex_define_exception(net_error) dlex_extends(io_error);

START_TEST(body_without_exception_runs_finally_and_no_handler)
{
    log_clear();
    dlex_try {
        log_mark('b');
    } dlex_finally {
        log_mark('f');
    } dlex_handle dlex_when(io_error) {
        log_mark('h');
    } dlex_when_any {
        log_mark('a');
    } dlex_end
    ck_assert_str_eq(log_text(), "bf");
}
END_TEST

START_TEST(finally_runs_once_and_before_the_handler)
{
    log_clear();
    dlex_try {
        log_mark('b');
        dlex_throw(io_error);
        log_mark('x');
    } dlex_finally {
        log_mark('f');
    } dlex_handle dlex_when(io_error) {
        log_mark('h');
    } dlex_end
    ck_assert_str_eq(log_text(), "bfh");
}
END_TEST

START_TEST(handler_of_an_ancestor_takes_the_exception)
{
    const struct dlex_type *volatile caught = NULL;
    dlex_try {
        dlex_throw(disk_error);
    } dlex_handle dlex_when(net_error) {
        caught = &net_error;
    } dlex_when(io_error) {
        caught = dlex_caught();
    } dlex_when_any {
        caught = &dlex_exception;
    } dlex_end
    ck_assert_ptr_eq(caught, &disk_error);
    ck_assert_str_eq(caught->name, "disk_error");
}
END_TEST

START_TEST(handler_of_a_descendant_does_not_take_it)
{
    log_clear();
    dlex_try {
        dlex_try {
            dlex_throw(io_error);
        } dlex_handle dlex_when(disk_error) {
            log_mark('d');
        } dlex_end
        log_mark('x');
    } dlex_handle dlex_when_any {
        log_mark('a');
    } dlex_end
    ck_assert_str_eq(log_text(), "a");
}
END_TEST

static void throw_deep(int levels)
{
    if (levels == 0)
        dlex_throw(disk_error);
    dlex_try {
        throw_deep(levels - 1);
    } dlex_finally {
        log_mark('f');
    } dlex_end
    log_mark('x');
}

START_TEST(exception_crosses_functions_and_runs_each_finally_once)
{
    log_clear();
    dlex_try {
        throw_deep(5);
    } dlex_handle dlex_when(disk_error) {
        log_mark('h');
    } dlex_end
    ck_assert_str_eq(log_text(), "fffffh");
}
END_TEST

START_TEST(rethrow_goes_to_the_outer_block_with_its_type)
{
    log_clear();
    dlex_try {
        dlex_try {
            dlex_throw(disk_error);
        } dlex_finally {
            log_mark('f');
        } dlex_handle dlex_when(io_error) {
            log_mark('i');
            dlex_rethrow();
        } dlex_when_any {
            log_mark('x');
        } dlex_end
    } dlex_handle dlex_when(disk_error) {
        log_mark('o');
    } dlex_end
    ck_assert_str_eq(log_text(), "fio");
}
END_TEST

START_TEST(exception_thrown_in_finally_replaces_the_first)
{
    log_clear();
    dlex_try {
        dlex_try {
            dlex_throw(disk_error);
        } dlex_finally {
            log_mark('f');
            dlex_throw(net_error);
        } dlex_handle dlex_when_any {
            log_mark('x');
        } dlex_end
    } dlex_handle dlex_when(net_error) {
        log_mark('n');
    } dlex_end
    ck_assert_str_eq(log_text(), "fn");
}
END_TEST

START_TEST(exception_thrown_in_a_handler_is_not_handled_by_its_own_block)
{
    log_clear();
    dlex_try {
        dlex_try {
            dlex_throw(disk_error);
        } dlex_handle dlex_when(disk_error) {
            log_mark('d');
            dlex_throw(net_error);
        } dlex_when(net_error) {
            log_mark('x');
        } dlex_end
    } dlex_handle dlex_when(net_error) {
        log_mark('n');
    } dlex_end
    ck_assert_str_eq(log_text(), "dn");
}
END_TEST

START_TEST(block_in_a_handler_keeps_the_outer_exception_for_rethrow)
{
    log_clear();
    dlex_try {
        dlex_try {
            dlex_throw(disk_error);
        } dlex_handle dlex_when(disk_error) {
            dlex_try {
                dlex_throw(net_error);
            } dlex_handle dlex_when(net_error) {
                log_mark('n');
            } dlex_end
            dlex_rethrow();
        } dlex_end
    } dlex_handle dlex_when(disk_error) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "nd");
}
END_TEST

static int return_from_body(void)
{
    dlex_try {
        return 7;
    } dlex_handle dlex_when_any {
        log_mark('x');
    } dlex_end
    return 0;
}

START_TEST(return_out_of_a_body_closes_the_block)
{
    log_clear();
    dlex_try {
        if (return_from_body() == 7)
            log_mark('r');
        dlex_throw(io_error);
    } dlex_handle dlex_when(io_error) {
        log_mark('o');
    } dlex_end
    ck_assert_str_eq(log_text(), "ro");
}
END_TEST

static void leave_in_every_way(void)
{
    for (volatile int i = 0; i < 3; i++) {
        dlex_try {
            if (i == 0)
                continue;
            if (i == 1)
                goto next;
            break;
        } dlex_end
    next:
        log_mark((char)('0' + i));
    }
}

START_TEST(break_continue_and_goto_out_of_a_body_close_the_block)
{
    log_clear();
    dlex_try {
        leave_in_every_way();
        dlex_throw(io_error);
    } dlex_handle dlex_when(io_error) {
        log_mark('o');
    } dlex_end
    ck_assert_str_eq(log_text(), "1o");
}
END_TEST

START_TEST(volatile_local_and_untouched_local_survive_the_jump)
{
    volatile int changed = 1;
    const int untouched = (int)(dlex_now_ns() & 0xffff);
    const int copy = untouched;
    dlex_try {
        changed = 2;
        dlex_throw(io_error);
    } dlex_handle dlex_when_any {
        changed = changed + 1;
    } dlex_end
    ck_assert_int_eq(changed, 3);
    ck_assert_int_eq(untouched, copy);
}
END_TEST

static void nest(int levels)
{
    dlex_try {
        if (levels > 0)
            nest(levels - 1);
        else
            dlex_throw(disk_error);
    } dlex_end
}

START_TEST(ten_thousand_nested_blocks_unwind)
{
    volatile bool caught = false;
    dlex_try {
        nest(10000);
    } dlex_handle dlex_when(disk_error) {
        caught = true;
    } dlex_end
    ck_assert(caught);
}
END_TEST

START_TEST(uncaught_exception_names_itself_and_aborts)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        dlex_throw(disk_error);
    }
    close(ends[1]);
    char text[512] = "";
    ck_assert_int_gt(read(ends[0], text, sizeof(text) - 1), 0);
    close(ends[0]);
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    ck_assert_ptr_nonnull(strstr(text, "disk_error"));
    ck_assert_ptr_nonnull(strstr(text, "test_dlex_exceptions.c:"));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        body_without_exception_runs_finally_and_no_handler,
        finally_runs_once_and_before_the_handler,
        handler_of_an_ancestor_takes_the_exception,
        handler_of_a_descendant_does_not_take_it,
        exception_crosses_functions_and_runs_each_finally_once,
        rethrow_goes_to_the_outer_block_with_its_type,
        exception_thrown_in_finally_replaces_the_first,
        exception_thrown_in_a_handler_is_not_handled_by_its_own_block,
        block_in_a_handler_keeps_the_outer_exception_for_rethrow,
        return_out_of_a_body_closes_the_block,
        break_continue_and_goto_out_of_a_body_close_the_block,
        volatile_local_and_untouched_local_survive_the_jump,
        ten_thousand_nested_blocks_unwind,
        uncaught_exception_names_itself_and_aborts,
        NULL,
    };
    return suite_run("libdlex exceptions", 120, tests);
}
