/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signals of the application together with deadlines: handlers, mask, timers, alternate stack. Not here:
 * the number of the library's signal (test_dlex_processes.c), and blocks opened in a handler on an
 * alternate stack (test_dlex_hazards.c). */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "dlex_testing.h"

dlex_define_exception(some_error) dlex_extends(dlex_exception);

static volatile int64_t handler_deadline_ns;

static bool blocked(int signo)
{
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    return sigismember(&now, signo);
}

static void unblock(int signo)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signo);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

static sigset_t set_of(int signo)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signo);
    return one;
}

/* Raises SIGUSR1 in a block. Its deadline passes while the handler runs. */
static const char *log_of_handler(void)
{
    log_clear();
    const int64_t deadline_ns = dlex_now_ns() + SOON;
    handler_deadline_ns = deadline_ns;
    dlex_try_within_abs(deadline_ns) {
        raise(SIGUSR1);
        log_mark('x');
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    return log_text();
}

static void wait_until_pending(int signo)
{
    sigset_t pending;
    do {
        sigpending(&pending);
    } while (!sigismember(&pending, signo));
}

static void outlast_with_the_signal_masked(int number)
{
    (void)number;
    log_mark('h');
    burn_until(handler_deadline_ns);
    wait_until_pending(dlex_signal());
    log_mark('e');
}

START_TEST(handler_of_dlex_sigaction_finishes_before_the_violation)
{
    struct sigaction action = { .sa_handler = outlast_with_the_signal_masked }, old;
    ck_assert_int_eq(dlex_sigaction(SIGUSR1, &action, &old), 0);
    ck_assert_str_eq(log_of_handler(), "hed");
    ck_assert(!blocked(SIGUSR1));
    ck_assert_int_eq(dlex_sigaction(SIGUSR1, &old, &action), 0);
    ck_assert(action.sa_handler == outlast_with_the_signal_masked);
    ck_assert(sigismember(&action.sa_mask, dlex_signal()));
}
END_TEST

static void outlast_with_a_section_inside(int number)
{
    outlast_with_the_signal_masked(number);
    dlex_try_within_disable();
    log_mark('s');
    dlex_try_within_enable();
    log_mark('t');
}

/* The violation of the outer deadline waits, so each section checks at its end whether it can deliver it. */
START_TEST(section_in_a_handler_of_dlex_sigaction_does_not_leave_it)
{
    const struct sigaction action = { .sa_handler = outlast_with_a_section_inside };
    ck_assert_int_eq(dlex_sigaction(SIGUSR1, &action, NULL), 0);
    log_clear();
    const int64_t deadline_ns = dlex_now_ns() + SOON;
    dlex_try_within_abs(deadline_ns) {
        dlex_try_within_disable();
        handler_deadline_ns = deadline_ns + SOON;
        dlex_try_within_abs_shielded(deadline_ns + SOON) {
            burn_until(deadline_ns + MS);
            raise(SIGUSR1);
            log_mark('x');
            burn(HOUR);
        } dlex_handle dlex_when(dlex_deadline_violation) {
            log_mark('i');
        } dlex_end
        dlex_try_within_enable();
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('o');
    } dlex_end
    ck_assert_str_eq(log_text(), "hestio");
    ck_assert(!blocked(SIGUSR1) && !blocked(dlex_signal()));
}
END_TEST

static void outlast_in_a_section(int number)
{
    (void)number;
    dlex_try_within_disable();
    log_mark('h');
    outlast(handler_deadline_ns);
    log_mark('e');
    dlex_try_within_enable();
    log_mark('y');
}

static void install(void (*handler)(int), int flags)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
}

START_TEST(handler_that_is_a_section_is_left_at_its_end)
{
    install(outlast_in_a_section, SA_NODEFER);
    ck_assert_str_eq(log_of_handler(), "hed");
    ck_assert(!blocked(SIGUSR1));
}
END_TEST

START_TEST(handler_that_is_a_section_leaves_its_signal_blocked_without_nodefer)
{
    install(outlast_in_a_section, 0);
    ck_assert_str_eq(log_of_handler(), "hed");
    const bool left_blocked = blocked(SIGUSR1);
    unblock(SIGUSR1);
    ck_assert(left_blocked);
}
END_TEST

static void compute_for_ever(int number)
{
    (void)number;
    log_mark('h');
    burn(HOUR);
    log_mark('y');
}

START_TEST(handler_without_precautions_is_left_in_the_middle_with_its_signal_blocked)
{
    install(compute_for_ever, 0);
    ck_assert_str_eq(log_of_handler(), "hd");
    const bool left_blocked = blocked(SIGUSR1);
    unblock(SIGUSR1);
    ck_assert(left_blocked);
}
END_TEST

static char alternate[1 << 17];
static volatile int on_alternate;

/* Does not use the address of a local variable, because sanitizers put local variables on a heap. */
static __attribute__((noinline)) bool is_on_alternate(void)
{
    const char *const frame = __builtin_frame_address(0);
    return frame >= alternate && frame < alternate + sizeof(alternate);
}

static void compute_on_the_alternate_stack(int number)
{
    on_alternate = on_alternate + is_on_alternate();
    compute_for_ever(number);
}

static void finish_on_the_alternate_stack(int number)
{
    on_alternate = on_alternate + is_on_alternate();
    outlast_with_the_signal_masked(number);
}

START_TEST(alternate_stack_is_free_again_after_a_jump_out_of_its_handler)
{
    const stack_t stack = { .ss_sp = alternate, .ss_size = sizeof(alternate) };
    const stack_t none = { .ss_flags = SS_DISABLE };
    on_alternate = 0;
    sigaltstack(&stack, NULL);
    install(compute_on_the_alternate_stack, SA_ONSTACK | SA_NODEFER);
    for (int i = 0; i < 3; i++)
        ck_assert_str_eq(log_of_handler(), "hd");
    const struct sigaction action = { .sa_handler = finish_on_the_alternate_stack,
                                      .sa_flags = SA_ONSTACK };
    dlex_sigaction(SIGUSR1, &action, NULL);
    ck_assert_str_eq(log_of_handler(), "hed");
    sigaltstack(&none, NULL);
    ck_assert_int_eq(on_alternate, 4);
}
END_TEST

START_TEST(dlex_sigaction_refuses_the_signal_of_the_library)
{
    const struct sigaction action = { .sa_handler = SIG_IGN };
    struct sigaction old;
    ck_assert_int_eq(dlex_sigaction(dlex_signal(), &action, NULL), -1);
    ck_assert_int_eq(dlex_sigaction(dlex_signal(), NULL, &old), -1);
    ck_assert_int_eq(dlex_sigaction(SIGKILL, &action, NULL), -1);
    ck_assert_int_eq(dlex_sigaction(SIGUSR1, NULL, &old), 0);
}
END_TEST

static volatile bool blocked_in_finally, blocked_in_handler;

static void block_and_be_aborted(void)
{
    const sigset_t usr1 = set_of(SIGUSR1);
    dlex_try_within_rel(SOON) {
        dlex_sigmask(SIG_BLOCK, &usr1, NULL);
        log_mark(blocked(SIGUSR1) ? 'b' : 'x');
        burn(HOUR);
    } dlex_finally {
        blocked_in_finally = blocked(SIGUSR1);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        blocked_in_handler = blocked(SIGUSR1);
        log_mark('d');
    } dlex_end
}

START_TEST(mask_is_restored_when_the_block_is_aborted)
{
    log_clear();
    blocked_in_finally = blocked_in_handler = true;
    block_and_be_aborted();
    ck_assert_str_eq(log_text(), "bd");
    ck_assert(!blocked_in_finally);
    ck_assert(!blocked_in_handler);
    ck_assert(!blocked(SIGUSR1));
}
END_TEST

START_TEST(mask_stays_when_the_body_ends_by_itself)
{
    const sigset_t usr1 = set_of(SIGUSR1);
    sigset_t before;
    sigfillset(&before);
    dlex_try_within_rel(HOUR) {
        dlex_sigmask(SIG_BLOCK, &usr1, &before);
    } dlex_end
    const bool stayed = blocked(SIGUSR1);
    unblock(SIGUSR1);
    ck_assert(stayed);
    ck_assert(!sigismember(&before, SIGUSR1));
}
END_TEST

/* Each block restores the mask that was in force before its own body first changed it. */
START_TEST(nested_blocks_restore_their_masks_one_by_one)
{
    const sigset_t usr1 = set_of(SIGUSR1), usr2 = set_of(SIGUSR2);
    volatile bool outer = false, inner = true;
    dlex_try {
        dlex_sigmask(SIG_BLOCK, &usr1, NULL);
        dlex_try {
            dlex_sigmask(SIG_BLOCK, &usr2, NULL);
            dlex_sigmask(SIG_UNBLOCK, &usr1, NULL);
            dlex_throw(some_error);
        } dlex_handle dlex_when(some_error) {
            outer = blocked(SIGUSR1);
            inner = blocked(SIGUSR2);
            dlex_rethrow();
        } dlex_end
    } dlex_handle dlex_when(some_error) { } dlex_end
    ck_assert(outer);
    ck_assert(!inner);
    ck_assert(!blocked(SIGUSR1));
    ck_assert(!blocked(SIGUSR2));
}
END_TEST

static void block_in_a_block_that_ends(int how)
{
    const sigset_t usr1 = set_of(SIGUSR1);
    dlex_try {
        dlex_sigmask(SIG_BLOCK, &usr1, NULL);
        if (how == 1)
            dlex_return_void();
    } dlex_end
}

START_TEST(mask_change_in_an_inner_block_that_ended_is_undone_by_the_outer_one)
{
    for (volatile int how = 0; how < 2; how++) {
        volatile bool in_body = false;
        dlex_try {
            block_in_a_block_that_ends(how);
            in_body = blocked(SIGUSR1);
            dlex_throw(some_error);
        } dlex_handle dlex_when(some_error) { } dlex_end
        ck_assert(in_body);
        ck_assert(!blocked(SIGUSR1));
    }
}
END_TEST

START_TEST(violation_still_comes_when_everything_is_blocked_through_dlex_sigmask)
{
    sigset_t all;
    sigfillset(&all);
    log_clear();
    dlex_try_within_rel(SOON) {
        dlex_sigmask(SIG_BLOCK, &all, NULL);
        dlex_sigmask(SIG_SETMASK, &all, NULL);
        log_mark(blocked(SIGUSR1) ? 'b' : 'x');
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "bd");
    ck_assert(!blocked(SIGUSR1));
    ck_assert_int_ne(dlex_sigmask(-1, &all, NULL), 0);
    ck_assert(!blocked(SIGUSR1));
}
END_TEST

static void *block_before_the_first_deadline(void *unused)
{
    (void)unused;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    dlex_try {
        const sigset_t usr1 = set_of(SIGUSR1);
        dlex_sigmask(SIG_UNBLOCK, &usr1, NULL);
        dlex_thread_init();
        dlex_throw(some_error);
    } dlex_handle dlex_when(some_error) { } dlex_end
    const bool right = blocked(SIGUSR1) && !blocked(dlex_signal());
    return right ? NULL : (void *)1;
}

START_TEST(restored_mask_never_blocks_the_signal_of_the_library)
{
    pthread_t thread;
    void *wrong = NULL;
    ck_assert_int_eq(pthread_create(&thread, NULL, block_before_the_first_deadline, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, &wrong), 0);
    ck_assert_ptr_null(wrong);
}
END_TEST

static volatile int ticks[2];

static void tick(int number)
{
    const int which = number != SIGALRM;
    ticks[which] = ticks[which] + 1;
}

static timer_t start_timers(const struct itimerval *every)
{
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 1 };
    timer_t timer;
    ck_assert_int_eq(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    const struct itimerspec spec = { .it_value.tv_nsec = MS, .it_interval.tv_nsec = MS };
    ck_assert_int_eq(timer_settime(timer, 0, &spec, NULL), 0);
    ck_assert_int_eq(setitimer(ITIMER_REAL, every, NULL), 0);
    return timer;
}

START_TEST(timers_and_alarms_of_the_application_work_beside_deadlines)
{
    const struct sigaction action = { .sa_handler = tick };
    const struct itimerval every_ms = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };
    struct sigaction before;
    ck_assert_int_eq(dlex_sigaction(SIGALRM, &action, &before), 0);
    ck_assert_int_eq(dlex_sigaction(SIGRTMIN + 1, &action, NULL), 0);
    ticks[0] = ticks[1] = 0;
    const timer_t timer = start_timers(&every_ms);
    volatile int aborts = 0;
    while (aborts < 200 || ticks[0] < 50 || ticks[1] < 50) {
        dlex_try_within_rel(MS) {
            burn(HOUR);
        } dlex_handle dlex_when(dlex_deadline_violation) {
            aborts = aborts + 1;
        } dlex_end
    }
    setitimer(ITIMER_REAL, &never, NULL);
    timer_delete(timer);
    sigaction(SIGALRM, &before, NULL);
    ck_assert(!blocked(SIGALRM));
    ck_assert(!blocked(SIGRTMIN + 1));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        handler_of_dlex_sigaction_finishes_before_the_violation,
        section_in_a_handler_of_dlex_sigaction_does_not_leave_it,
        handler_that_is_a_section_is_left_at_its_end,
        handler_that_is_a_section_leaves_its_signal_blocked_without_nodefer,
        handler_without_precautions_is_left_in_the_middle_with_its_signal_blocked,
        alternate_stack_is_free_again_after_a_jump_out_of_its_handler,
        dlex_sigaction_refuses_the_signal_of_the_library,
        mask_is_restored_when_the_block_is_aborted,
        mask_stays_when_the_body_ends_by_itself,
        nested_blocks_restore_their_masks_one_by_one,
        mask_change_in_an_inner_block_that_ended_is_undone_by_the_outer_one,
        violation_still_comes_when_everything_is_blocked_through_dlex_sigmask,
        restored_mask_never_blocks_the_signal_of_the_library,
        timers_and_alarms_of_the_application_work_beside_deadlines,
        NULL,
    };
    return suite_run("libdlex signals", 120, tests);
}
