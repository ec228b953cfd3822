/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What may go wrong with blocks: no timer, a signal that other code uses, stray signals, blocks left by
 * a longjmp of the application, other stacks. Not here: an application handler that a deadline abandons,
 * which the contract excludes. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dlex_testing.h"

#ifdef __SANITIZE_ADDRESS__
/*
 * Switches off stack frames on a heap, which AddressSanitizer of gcc 13 and later uses by default. With
 * them the library recognises a block that a longjmp left only by the frame of its function, and not
 * even that if new frames cover this frame (the limit that the contract states). On a stack the
 * library recognises it by the place of its record.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "detect_stack_use_after_return=0";
}
#endif

static void ignore_signal(int number)
{
    (void)number;
}

/* Runs in a child, so that the first timer of the process meets the limit or the handler. */
static int errors_in_child(bool limit, bool handler)
{
    if (limit && setrlimit(RLIMIT_SIGPENDING, &(struct rlimit){ 0, 0 }) < 0)
        return 1;
    if (handler)
        signal(dlex_signal(), ignore_signal);
    const int expected = handler ? EBUSY : EAGAIN;
    if (dlex_thread_init() != -expected)
        return 2;
    volatile int result = 3;
    dlex_try_within_rel(HOUR) {
        result = 4;
    } dlex_handle dlex_when(dlex_timer_error) {
        result = errno == expected ? 0 : 5;
    } dlex_end
    return result;
}

static int status_of_errors(bool limit, bool handler)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(errors_in_child(limit, handler));
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

START_TEST(block_without_a_timer_throws_before_its_body)
{
    ck_assert_int_eq(status_of_errors(true, false), 0);
}
END_TEST

START_TEST(signal_taken_by_another_part_of_the_program_is_an_error)
{
    ck_assert_int_eq(status_of_errors(false, true), 0);
}
END_TEST

START_TEST(enable_without_disable_aborts)
{
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
        dlex_try_within_enable();
        _exit(0);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
END_TEST

START_TEST(stray_signals_change_nothing)
{
    log_clear();
    ck_assert_int_eq(dlex_thread_init(), 0);
    raise(dlex_signal());
    dlex_try_within_rel(5 * MS) {
        for (int i = 0; i < 100; i++)
            raise(dlex_signal());
        log_mark('b');
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    raise(dlex_signal());
    const char *last = log_text() + strlen(log_text()) - 1;
    ck_assert_str_eq(last, "d");
}
END_TEST

static jmp_buf way_out;

static __attribute__((noinline)) void leave_by_longjmp(int64_t ns, int depth)
{
    dlex_try_within_rel(ns) {
        if (depth > 0)
            leave_by_longjmp(ns, depth - 1);
        longjmp(way_out, 1);
    } dlex_finally {
        log_mark('x');
    } dlex_handle dlex_when_any {
        log_mark('y');
    } dlex_end
}

/* Opens the blocks far down the stack, so that frames of later calls do not cover the records that were
 * left: a block with a covered record cannot be recognised. */
static __attribute__((noinline)) int leave_by_longjmp_from_far_below(int64_t ns, int depth)
{
    volatile char distance[1 << 16];
    distance[depth] = 1;
    leave_by_longjmp(ns, depth);
    return distance[depth];
}

START_TEST(blocks_left_by_longjmp_are_forgotten_when_they_expire)
{
    log_clear();
    if (setjmp(way_out) == 0)
        leave_by_longjmp_from_far_below(SOON, 5);
    burn(2 * SOON);
    ck_assert_str_eq(log_text(), "");
}
END_TEST

START_TEST(blocks_left_by_longjmp_are_forgotten_when_they_expire_in_a_section)
{
    log_clear();
    if (setjmp(way_out) == 0)
        leave_by_longjmp_from_far_below(SOON, 2);
    dlex_try_within_disable();
    outlast(dlex_deadline_ns());
    dlex_try_within_enable();
    ck_assert_str_eq(log_text(), "");
    ck_assert_int_eq(dlex_guard_.depth, 0);
}
END_TEST

static void leave_a_cooperative_block_by_longjmp(void)
{
    dlex_try_within_rel_cooperative(SOON) {
        longjmp(way_out, 1);
    } dlex_handle dlex_when_any {
        log_mark('y');
    } dlex_end
}

static __attribute__((noinline)) int leave_a_cooperative_block_from_far_below(void)
{
    volatile char distance[1 << 16];
    distance[0] = 1;
    leave_a_cooperative_block_by_longjmp();
    return distance[0];
}

START_TEST(block_left_by_longjmp_is_forgotten_by_a_checkpoint)
{
    log_clear();
    if (setjmp(way_out) == 0)
        leave_a_cooperative_block_from_far_below();
    burn(SOON + MS);
    dlex_checkpoint();
    ck_assert_str_eq(log_text(), "");
    ck_assert_int_eq(dlex_guard_.depth, 0);
}
END_TEST

START_TEST(blocks_left_by_longjmp_do_not_take_later_exceptions)
{
    log_clear();
    dlex_try_within_rel(HOUR) {
        if (setjmp(way_out) == 0)
            leave_by_longjmp_from_far_below(HOUR, 3);
        dlex_throw(dlex_exception);
    } dlex_handle dlex_when_any {
        log_mark('a');
    } dlex_end
    ck_assert_str_eq(log_text(), "a");
}
END_TEST

/* Opens nested blocks. The block with this depth goes on after a longjmp left those inside it. */
static void nest_and_leave(int depth, int landing, int deepest)
{
    dlex_try_within_rel(HOUR) {
        if (depth == landing) {
            if (setjmp(way_out) == 0)
                nest_and_leave(depth + 1, landing, deepest);
            else
                dlex_throw(dlex_exception);
        } else if (depth == deepest) {
            leave_by_longjmp_from_far_below(HOUR, 2);
        } else {
            nest_and_leave(depth + 1, landing, deepest);
        }
    } dlex_finally {
        log_mark(depth == landing ? 'f' : '.');
    } dlex_handle dlex_when_any {
        log_mark(depth == landing ? 'h' : 'x');
    } dlex_end
}

static void expect_a_landing(int landing, int deepest)
{
    char expected[64] = "fh";
    for (int i = 0; i < landing; i++)
        expected[2 + i] = '.';
    log_clear();
    nest_and_leave(0, landing, deepest);
    ck_assert_str_eq(log_text(), expected);
    ck_assert_int_eq(dlex_remaining_ns(), INT64_MAX);
}

START_TEST(blocks_left_by_longjmp_are_forgotten_at_any_depth)
{
    expect_a_landing(3, 10);
    expect_a_landing(3, 15);
    expect_a_landing(15, 16);
    expect_a_landing(15, 40);
    expect_a_landing(16, 17);
    expect_a_landing(30, 50);
    expect_a_landing(0, 50);
}
END_TEST

static void leave_a_section_by_longjmp(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_try_within_disable();
        longjmp(way_out, 1);
    } dlex_end
}

START_TEST(section_in_a_block_left_by_longjmp_ends_with_it)
{
    log_clear();
    if (setjmp(way_out) == 0)
        leave_a_section_by_longjmp();
    dlex_try_within_rel(2 * MS) {
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "d");
}
END_TEST

static void leave_a_block_in_an_island_by_longjmp(int64_t deadline_ns)
{
    dlex_try_within_abs_shielded(deadline_ns + HOUR) {
        if (setjmp(way_out) == 0)
            leave_by_longjmp_from_far_below(HOUR, 2);
        burn_until(deadline_ns + MS);
        log_mark('i');
    } dlex_end
}

START_TEST(block_left_by_longjmp_in_an_island_does_not_break_the_shield)
{
    ck_assert_str_eq(log_of_protected(leave_a_block_in_an_island_by_longjmp), "ipo");
}
END_TEST

static void leave_an_island_by_longjmp(void)
{
    dlex_try_within_rel_shielded(HOUR) {
        longjmp(way_out, 1);
    } dlex_end
}

static __attribute__((noinline)) int leave_an_island_from_far_below(void)
{
    volatile char distance[1 << 16];
    distance[0] = 1;
    leave_an_island_by_longjmp();
    return distance[0];
}

static void go_on_after_an_island(int64_t deadline_ns)
{
    if (setjmp(way_out) == 0)
        leave_an_island_from_far_below();
    burn_until(deadline_ns + MS);
}

START_TEST(section_round_an_island_left_by_longjmp_is_in_force_again)
{
    ck_assert_str_eq(log_of_protected(go_on_after_an_island), "po");
    /* This holds also if nothing has expired when the section ends. */
    dlex_try_within_disable();
    if (setjmp(way_out) == 0)
        leave_an_island_from_far_below();
    dlex_try_within_enable();
    ck_assert_int_eq(dlex_guard_.depth, 0);
}
END_TEST

static __attribute__((noinline)) void leave_and_open_again(void)
{
    for (volatile int i = 0; i < 3; i++) {
        if (setjmp(way_out) != 0)
            continue;
        dlex_try_within_rel(HOUR) {
            dlex_try {
                dlex_idle(); /* walks the list of open blocks: without end, if the list were a ring */
                longjmp(way_out, 1);
            } dlex_end
        } dlex_end
    }
}

/* Several blocks in one function. The blocks opened after the longjmp are not the block that was left. */
static __attribute__((noinline)) void leave_and_open_others(int64_t ns, bool in_a_handler)
{
    jmp_buf here;
    dlex_try {
        if (in_a_handler)
            dlex_throw(dlex_exception);
        log_mark('b');
    } dlex_handle dlex_when_any {
        log_mark('h');
        if (setjmp(here) == 0) {
            dlex_try_within_rel(ns) {
                longjmp(here, 1);
            } dlex_handle dlex_when_any {
                log_mark('x');
            } dlex_end
        }
        dlex_try {
            dlex_try_within_rel(HOUR) {
                burn(2 * ns);
                log_mark('i');
            } dlex_end
        } dlex_end
    } dlex_end
    if (setjmp(here) == 0) {
        dlex_try_within_rel(ns) {
            dlex_try {
                longjmp(here, 1);
            } dlex_end
        } dlex_handle dlex_when_any {
            log_mark('x');
        } dlex_end
    }
    dlex_try_within_rel(HOUR) {
        burn(2 * ns);
        log_mark('a');
    } dlex_end
}

START_TEST(block_left_by_longjmp_in_its_own_function_is_forgotten_by_the_next_one_there)
{
    log_clear();
    leave_and_open_others(SOON, false);
    ck_assert_str_eq(log_text(), "ba");
    ck_assert_int_eq(dlex_remaining_ns(), INT64_MAX);
    log_clear();
    dlex_try {
        leave_and_open_others(SOON, true);
        dlex_throw(dlex_exception);
    } dlex_handle dlex_when_any {
        log_mark('o');
    } dlex_end
    ck_assert_str_eq(log_text(), "hiao");
    ck_assert_int_eq(dlex_remaining_ns(), INT64_MAX);
}
END_TEST

START_TEST(block_left_by_longjmp_in_its_own_function_can_be_opened_again)
{
    log_clear();
    leave_and_open_again();
    dlex_try_within_rel(3 * MS) {
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "d");
}
END_TEST

static void block_on_the_other_stack(int number)
{
    (void)number;
    dlex_try_within_rel(2 * MS) {
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('s');
    } dlex_end
}

/* The alternate stack may lie above or below the frames with open blocks. */
static void signal_on_alternate_stack(char *memory, size_t size)
{
    const stack_t stack = { .ss_sp = memory, .ss_size = size }, none = { .ss_flags = SS_DISABLE };
    struct sigaction action = { .sa_handler = block_on_the_other_stack, .sa_flags = SA_ONSTACK };
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    dlex_try_within_rel(5 * SOON) {
        raise(SIGUSR1);
        log_mark('b');
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    sigaltstack(&none, NULL);
}

START_TEST(block_on_an_alternate_stack_does_not_affect_the_others)
{
    enum { SIZE = 1 << 17 };
    char *above = __builtin_alloca(SIZE);
    char *below = malloc(SIZE);
    log_clear();
    signal_on_alternate_stack(above, SIZE);
    signal_on_alternate_stack(below, SIZE);
    free(below);
    ck_assert_str_eq(log_text(), "sbdsbd");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        block_without_a_timer_throws_before_its_body,
        signal_taken_by_another_part_of_the_program_is_an_error,
        enable_without_disable_aborts,
        stray_signals_change_nothing,
        blocks_left_by_longjmp_are_forgotten_when_they_expire,
        blocks_left_by_longjmp_are_forgotten_when_they_expire_in_a_section,
        block_left_by_longjmp_is_forgotten_by_a_checkpoint,
        blocks_left_by_longjmp_do_not_take_later_exceptions,
        blocks_left_by_longjmp_are_forgotten_at_any_depth,
        section_in_a_block_left_by_longjmp_ends_with_it,
        block_left_by_longjmp_in_an_island_does_not_break_the_shield,
        section_round_an_island_left_by_longjmp_is_in_force_again,
        block_left_by_longjmp_in_its_own_function_is_forgotten_by_the_next_one_there,
        block_left_by_longjmp_in_its_own_function_can_be_opened_again,
        block_on_an_alternate_stack_does_not_affect_the_others,
        NULL,
    };
    return suite_run("libdlex hazards", 120, tests);
}
