/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cooperative blocks and checkpoints. Not here: the cost of a checkpoint. */
#include <string.h>

#include "dlex_testing.h"

/* Runs the scenario until its body has begun, and returns its log: on a busy machine the deadline may
 * pass before the body. */
static const char *log_once_begun(void (*scenario)(void))
{
    for (int i = 0; i < 100; i++) {
        log_clear();
        scenario();
        if (log_text()[0] == 'b')
            break;
    }
    return log_text();
}

static void check_when_expired(void)
{
    dlex_try_within_rel_cooperative(2 * MS) {
        dlex_checkpoint();
        log_mark('b');
        burn(5 * MS);
        log_mark('c');
        dlex_checkpoint();
        log_mark('x');
    } dlex_finally {
        log_mark('f');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
}

START_TEST(checkpoint_throws_when_the_deadline_has_passed)
{
    ck_assert_str_eq(log_once_begun(check_when_expired), "bcfd");
}
END_TEST

START_TEST(checkpoint_throws_when_the_cpu_time_is_used_up)
{
    log_clear();
    const int64_t start_ns = dlex_cpu_ns();
    dlex_try_within_wcet_cooperative(2 * MS) {
        for (;;)
            dlex_checkpoint();
    } dlex_handle dlex_when(dlex_wcet_violation) {
        log_mark('w');
    } dlex_end
    ck_assert_str_eq(log_text(), "w");
    ck_assert_int_ge(dlex_cpu_ns() - start_ns, 2 * MS);
    ck_assert_ptr_eq(dlex_last_violation()->type, &dlex_wcet_violation);
}
END_TEST

static void run_without_a_checkpoint(void)
{
    dlex_try_within_abs_cooperative(dlex_now_ns() + MS) {
        burn(5 * MS);
        log_mark('b');
    } dlex_handle dlex_when_any {
        log_mark('x');
    } dlex_end
}

START_TEST(body_without_a_checkpoint_runs_to_its_end)
{
    ck_assert_str_eq(log_once_begun(run_without_a_checkpoint), "b");
}
END_TEST

static void check_inside_an_expired_block(void)
{
    dlex_try_within_rel(2 * MS) {
        dlex_try_within_rel_cooperative(HOUR) {
            burn(10 * MS);
            log_mark('b');
            dlex_checkpoint();
            log_mark('x');
        } dlex_finally {
            log_mark('f');
        } dlex_handle dlex_when_any {
            log_mark('y');
        } dlex_end
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('o');
    } dlex_end
}

START_TEST(deadline_of_an_outer_block_waits_for_a_checkpoint)
{
    ck_assert_str_eq(log_once_begun(check_inside_an_expired_block), "bfo");
}
END_TEST

static void end_inside_an_expired_block(void)
{
    const int64_t deadline_ns = dlex_now_ns() + SOON;
    dlex_try_within_abs(deadline_ns) {
        dlex_try_within_rel_cooperative(HOUR) {
            outlast(deadline_ns);
            log_mark('b');
        } dlex_finally {
            log_mark('f');
        } dlex_end
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('o');
    } dlex_end
}

START_TEST(deadline_of_an_outer_block_is_taken_at_the_end_without_a_checkpoint)
{
    ck_assert_str_eq(log_once_begun(end_inside_an_expired_block), "bfo");
}
END_TEST

static void check_inside_a_cooperative_block(void)
{
    dlex_try_within_rel_cooperative(HOUR) {
        dlex_try_within_rel(2 * MS) {
            burn(10 * MS);
            log_mark('b');
            dlex_checkpoint();
            log_mark('x');
        } dlex_handle dlex_when(dlex_deadline_violation) {
            log_mark('d');
        } dlex_end
        log_mark('e');
    } dlex_end
}

START_TEST(block_inside_a_cooperative_one_is_cooperative)
{
    ck_assert_str_eq(log_once_begun(check_inside_a_cooperative_block), "bde");
}
END_TEST

START_TEST(island_inside_a_cooperative_block_is_interruptible)
{
    log_clear();
    dlex_try_within_rel_cooperative(HOUR) {
        dlex_try_within_rel_shielded(2 * MS) {
            burn(HOUR);
        } dlex_handle dlex_when(dlex_deadline_violation) {
            log_mark('d');
        } dlex_end
        burn(5 * MS);
        log_mark('e');
    } dlex_end
    ck_assert_str_eq(log_text(), "de");
}
END_TEST

static void check_in_a_section(void)
{
    dlex_try_within_rel_cooperative(2 * MS) {
        log_mark('b');
        dlex_try_within_disable();
        burn(5 * MS);
        dlex_checkpoint();
        log_mark('p');
        dlex_try_within_enable();
        log_mark('e');
        dlex_checkpoint();
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
}

START_TEST(checkpoint_in_a_protected_section_waits_for_its_end)
{
    ck_assert_str_eq(log_once_begun(check_in_a_section), "bped");
}
END_TEST

static void cooperate(int64_t deadline_ns)
{
    dlex_try_within_abs_cooperative(deadline_ns + HOUR) {
        outlast(deadline_ns);
        dlex_checkpoint();
        log_mark('c');
        dlex_try_within_rel_cooperative(MS) {
            burn(2 * MS);
            dlex_checkpoint();
            log_mark('x');
        } dlex_handle dlex_when(dlex_deadline_violation) {
            log_mark('d');
        } dlex_end
    } dlex_handle dlex_when_any {
        log_mark('y');
    } dlex_end
}

START_TEST(checkpoint_does_not_reach_blocks_behind_a_protected_section)
{
    ck_assert_str_eq(log_of_protected(cooperate), "cdpo");
}
END_TEST

START_TEST(checkpoint_works_in_an_interruptible_block_and_outside_all)
{
    log_clear();
    dlex_checkpoint();
    dlex_try_within_rel(2 * MS) {
        for (;;)
            dlex_checkpoint();
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    dlex_checkpoint();
    ck_assert_str_eq(log_text(), "d");
}
END_TEST

START_TEST(passed_deadline_is_a_violation_before_the_body)
{
    log_clear();
    dlex_try_within_abs_cooperative(dlex_now_ns()) {
        log_mark('x');
    } dlex_finally {
        log_mark('f');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "fd");
}
END_TEST

START_TEST(remaining_time_turns_negative)
{
    volatile int64_t left_ns = 0;
    dlex_try_within_rel_cooperative(MS) {
        burn(3 * MS);
        left_ns = dlex_remaining_ns();
    } dlex_end
    ck_assert_int_lt(left_ns, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        checkpoint_throws_when_the_deadline_has_passed,
        checkpoint_throws_when_the_cpu_time_is_used_up,
        body_without_a_checkpoint_runs_to_its_end,
        deadline_of_an_outer_block_waits_for_a_checkpoint,
        deadline_of_an_outer_block_is_taken_at_the_end_without_a_checkpoint,
        block_inside_a_cooperative_one_is_cooperative,
        island_inside_a_cooperative_block_is_interruptible,
        checkpoint_in_a_protected_section_waits_for_its_end,
        checkpoint_does_not_reach_blocks_behind_a_protected_section,
        checkpoint_works_in_an_interruptible_block_and_outside_all,
        passed_deadline_is_a_violation_before_the_body,
        remaining_time_turns_negative,
        NULL,
    };
    return suite_run("libdlex cooperative", 120, tests);
}
