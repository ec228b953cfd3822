/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program compiled with NDEBUG: a plain exit past a finally part disarms and closes the block, and
 * the program goes on. Everything else is the same as without NDEBUG. */
#ifndef NDEBUG
#define NDEBUG
#endif
#include "dlex_testing.h"

static int leave_plainly(void)
{
    dlex_try_within_rel(SOON) {
        return 1;
    } dlex_finally {
        log_mark('x');
    } dlex_end
    return 0;
}

START_TEST(plain_exit_past_finally_closes_the_block)
{
    log_clear();
    ck_assert_int_eq(leave_plainly(), 1);
    ck_assert_int_eq(dlex_remaining_ns(), INT64_MAX);
    burn(2 * SOON);
    ck_assert_str_eq(log_text(), "");
}
END_TEST

START_TEST(blocks_work_after_a_plain_exit_past_finally)
{
    log_clear();
    dlex_try_within_rel(2 * MS) {
        leave_plainly();
        burn(HOUR);
    } dlex_finally {
        log_mark('f');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "fd");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        plain_exit_past_finally_closes_the_block,
        blocks_work_after_a_plain_exit_past_finally,
        NULL,
    };
    return suite_run("libdlex ndebug", 120, tests);
}
