/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Blocks in OML's syntax, and their meaning. Not here: deadlines (test_oml_times.c); names without prefix
 * and the ends of programs (programs/); the behaviour of libdlex below them. */
#include <oml_exceptions.h>

#include "dlex_testing.h"

oml_define_exception(io_failed) oml_extends(oml_error);
oml_define_exception(disk_failed) oml_extends(io_failed);
static oml_define_exception(local_failed) oml_extends(oml_exception);
dlex_define_exception(dlex_failed) dlex_extends(dlex_exception);

START_TEST(all_parts_may_stand_without_braces_and_the_end_without_a_semicolon)
{
    log_clear();
    oml_try
        log_mark('a');
        log_mark('b');
    oml_finally
        log_mark('f');
        log_mark('g');
    oml_handle
    oml_when (io_failed)
        log_mark('x');
    oml_end
    oml_try
        oml_throw(io_failed);
    oml_handle
        oml_when (disk_failed)
            log_mark('x');
        oml_when (io_failed)
            log_mark('h');
            log_mark('i');
    oml_end;
    ck_assert_str_eq(log_text(), "abfghi");
}
END_TEST

START_TEST(the_smallest_block_is_a_body_and_handle)
{
    log_clear();
    oml_try {
        log_mark('b');
    }
    oml_handle
    oml_end
    ck_assert_str_eq(log_text(), "b");
}
END_TEST

START_TEST(code_after_handle_runs_when_nothing_was_raised)
{
    log_clear();
    for (volatile int raising = 0; raising < 2; raising++) {
        oml_try {
            if (raising)
                oml_throw(io_failed);
        }
        oml_handle
            log_mark('n');
            oml_when (io_failed) {
                log_mark('h');
            }
        oml_end
    }
    ck_assert_str_eq(log_text(), "nh");
}
END_TEST

START_TEST(finally_runs_once_whether_or_not_something_is_raised)
{
    log_clear();
    for (volatile int raising = 0; raising < 2; raising++) {
        oml_try {
            log_mark('b');
            if (raising)
                oml_throw(disk_failed);
        } oml_finally {
            log_mark('f');
        } oml_handle
            oml_when (oml_error) {
                log_mark('h');
            }
        oml_end;
    }
    ck_assert_str_eq(log_text(), "bfbfh");
}
END_TEST

static char taken_by_root(const oml_exception_struct *type)
{
    volatile char taken = '-';
    oml_try {
        oml_throw(*type);
    } oml_handle
        oml_when (oml_exception) {
            taken = 'r';
        }
    oml_end;
    return taken;
}

START_TEST(handler_for_the_root_takes_the_exceptions_of_both_libraries)
{
    const oml_exception_struct *const types[] = {
        &oml_exception, &oml_error, &disk_failed, &local_failed, &dlex_failed,
        &oml_ex_deadline_violation, &dlex_timer_error,
    };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        ck_assert_int_eq(taken_by_root(types[i]), 'r');
}
END_TEST

START_TEST(handler_in_the_syntax_of_libdlex_takes_an_oml_exception)
{
    const struct dlex_type *volatile caught = NULL;
    dlex_try {
        oml_throw(disk_failed);
    } dlex_handle dlex_when(oml_error) {
        caught = dlex_caught();
    } dlex_end
    ck_assert_ptr_eq(caught, &disk_failed);
}
END_TEST

START_TEST(types_have_names_and_parents)
{
    const struct oml_exception_struct *const with_struct = &disk_failed;
    ck_assert_str_eq(with_struct->name, "disk_failed");
    ck_assert_ptr_eq(with_struct->parent, &io_failed);
    ck_assert_ptr_eq(io_failed.parent, &oml_error);
    ck_assert_ptr_eq(oml_error.parent, &oml_exception);
    ck_assert_ptr_null(oml_exception.parent);
    ck_assert_ptr_eq(oml_ex_deadline_violation.parent, &oml_ex_time_constr_violation);
}
END_TEST

START_TEST(any_takes_every_exception_and_names_it)
{
    const char *volatile name = NULL;
    oml_try {
        oml_throw(local_failed);
    } oml_handle
        oml_when (oml_any) {
            name = oml_any.name;
        }
    oml_end;
    ck_assert_str_eq(name, "local_failed");
}
END_TEST

/* The semicolon after oml_rethrow is optional. */
static void rethrow_in_two_ways(int way)
{
    oml_try {
        oml_throw(disk_failed);
    } oml_finally {
        log_mark('f');
    } oml_handle
        oml_when (io_failed) {
            if (way == 0) {
                oml_rethrow;
            }
            oml_rethrow
        }
        oml_when (oml_any) {
            log_mark('x');
        }
    oml_end;
    log_mark('y');
}

START_TEST(rethrow_passes_the_exception_on_where_the_original_loses_it)
{
    log_clear();
    for (volatile int way = 0; way < 2; way++) {
        oml_try {
            rethrow_in_two_ways(way);
            log_mark('z');
        } oml_handle
            log_mark('n');
            oml_when (disk_failed) {
                log_mark('d');
            }
        oml_end;
    }
    ck_assert_str_eq(log_text(), "fdfd");
}
END_TEST

START_TEST(exception_in_finally_replaces_the_first_where_the_original_loops)
{
    log_clear();
    oml_try {
        oml_try {
            oml_throw(disk_failed);
        } oml_finally {
            log_mark('f');
            oml_throw(local_failed);
        } oml_handle
            oml_when (oml_any) {
                log_mark('x');
            }
        oml_end;
    } oml_handle
        oml_when (local_failed) {
            log_mark('l');
        }
    oml_end;
    ck_assert_str_eq(log_text(), "fl");
}
END_TEST

static volatile int finally_parts;

static void nest(int levels)
{
    oml_try {
        if (levels > 1)
            nest(levels - 1);
        else
            oml_throw(disk_failed);
    } oml_finally {
        finally_parts = finally_parts + 1;
    } oml_handle
        oml_when (local_failed) {
            log_mark('x');
        }
    oml_end;
    log_mark('y');
}

static void nest_and_catch(int levels)
{
    log_clear();
    finally_parts = 0;
    oml_try {
        nest(levels - 1);
    } oml_handle
        oml_when (disk_failed) {
            log_mark('d');
        }
    oml_end;
}

START_TEST(fourteen_and_a_hundred_blocks_nest)
{
    nest_and_catch(14);
    ck_assert_int_eq(finally_parts, 13);
    ck_assert_str_eq(log_text(), "d");
    nest_and_catch(100);
    ck_assert_int_eq(finally_parts, 99);
    ck_assert_str_eq(log_text(), "d");
    ck_assert_int_eq(__oml_ExcCurrentContext, -1);
}
END_TEST

START_TEST(context_counts_open_blocks_from_minus_one)
{
    volatile int inside = 0, in_handler = 0;
    ck_assert_int_eq(__oml_ExcCurrentContext, -1);
    oml_try {
        oml_try {
            inside = __oml_ExcCurrentContext;
            oml_throw(io_failed);
        } oml_handle
            oml_when (oml_any) {
                in_handler = __oml_ExcCurrentContext;
            }
        oml_end;
    } oml_handle
    oml_end;
    ck_assert_int_eq(inside, 1);
    ck_assert_int_eq(in_handler, 0);
    ck_assert_int_eq(__oml_ExcCurrentContext, -1);
}
END_TEST

static int return_through_two_blocks(int value)
{
    oml_try {
        oml_try {
            oml_ex_return(value + 1);
        } oml_finally {
            log_mark('i');
        } oml_handle
            log_mark('x');
        oml_end;
    } oml_finally {
        log_mark('o');
    } oml_handle
        oml_when (oml_any) {
            log_mark('x');
        }
    oml_end;
    log_mark('y');
    return 0;
}

START_TEST(ex_return_leaves_all_blocks_of_the_function_and_runs_their_finally_parts)
{
    volatile int value = 0;
    log_clear();
    oml_try {
        value = return_through_two_blocks(41);
        oml_throw(local_failed);
    } oml_handle
        oml_when (local_failed) {
            log_mark('l');
        }
    oml_end;
    ck_assert_int_eq(value, 42);
    ck_assert_str_eq(log_text(), "iol");
    ck_assert_int_eq(__oml_ExcCurrentContext, -1);
}
END_TEST

static const char *return_a_null_pointer(void)
{
    oml_try {
        oml_ex_return(0);
    } oml_handle
    oml_end;
    return "not this";
}

START_TEST(ex_return_of_zero_is_a_null_pointer)
{
    ck_assert_ptr_null(return_a_null_pointer());
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        all_parts_may_stand_without_braces_and_the_end_without_a_semicolon,
        the_smallest_block_is_a_body_and_handle,
        code_after_handle_runs_when_nothing_was_raised,
        finally_runs_once_whether_or_not_something_is_raised,
        handler_for_the_root_takes_the_exceptions_of_both_libraries,
        handler_in_the_syntax_of_libdlex_takes_an_oml_exception,
        types_have_names_and_parents,
        any_takes_every_exception_and_names_it,
        rethrow_passes_the_exception_on_where_the_original_loses_it,
        exception_in_finally_replaces_the_first_where_the_original_loops,
        fourteen_and_a_hundred_blocks_nest,
        context_counts_open_blocks_from_minus_one,
        ex_return_leaves_all_blocks_of_the_function_and_runs_their_finally_parts,
        ex_return_of_zero_is_a_null_pointer,
        NULL,
    };
    return suite_run("oml blocks", SUITE_TIMEOUT_DEFAULT, tests);
}
