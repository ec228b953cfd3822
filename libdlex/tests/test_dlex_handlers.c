/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Deadlines that pass in signal handlers of the application, and in calls that change the signal mask
 * for a moment. Not here: installing handlers and choosing the signal (signals), alternate stacks (stacks). */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

#include "dlex_testing.h"

static bool is_blocked(int signo)
{
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    return sigismember(&mask, signo);
}

static void change_mask(int how, int signo)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signo);
    pthread_sigmask(how, &set, NULL);
}

/* The usual idiom: a signal is blocked everywhere, except in the call in which the program sleeps. */
enum { PPOLL, PSELECT, SIGSUSPEND, EPOLL_PWAIT, CALLS };

static void sleep_in(int call, int epoll, const sigset_t *mask)
{
    struct epoll_event event;
    if (call == PPOLL)
        ppoll(NULL, 0, NULL, mask);
    else if (call == PSELECT)
        pselect(0, NULL, NULL, NULL, NULL, mask);
    else if (call == SIGSUSPEND)
        sigsuspend(mask);
    else
        epoll_pwait(epoll, &event, 1, -1, mask);
}

START_TEST(abort_inside_a_call_with_a_mask_of_its_own_restores_the_mask)
{
    const int epoll = epoll_create1(0);
    sigset_t none;
    sigemptyset(&none);
    change_mask(SIG_BLOCK, SIGUSR1);
    for (volatile int call = 0; call < CALLS; call++) {
        log_clear();
        dlex_try_within_rel(3 * MS) {
            for (;;)
                sleep_in(call, epoll, &none);
        } dlex_handle dlex_when(dlex_deadline_violation) {
            log_mark('d');
        } dlex_end
        ck_assert_str_eq(log_text(), "d");
        ck_assert_msg(is_blocked(SIGUSR1), "after call %d", call);
    }
    change_mask(SIG_UNBLOCK, SIGUSR1);
    close(epoll);
}
END_TEST

START_TEST(mask_that_the_body_changed_itself_stays_changed)
{
    dlex_try_within_rel(3 * MS) {
        change_mask(SIG_BLOCK, SIGUSR2);
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
    } dlex_end
    ck_assert(is_blocked(SIGUSR2));
    change_mask(SIG_UNBLOCK, SIGUSR2);
}
END_TEST

/* Actions of a handler of dlex_sigaction after the deadline of the interrupted block has passed. */
enum { OPENS, OPENS_LATE, OPENS_COOPERATIVE, OPENS_SHIELDED, CHECKS, ENABLES, HANDLERS };
static volatile int what;
static volatile int64_t outer_deadline_ns;

static void open_in_the_handler(void)
{
    dlex_try_within_rel(HOUR) {
        log_mark('b');
    } dlex_end
}

static void open_late_in_the_handler(void)
{
    dlex_try_within_rel(0) {
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('l');
    } dlex_end
}

static void open_others_in_the_handler(void)
{
    if (what == OPENS_COOPERATIVE) {
        dlex_try_within_rel_cooperative(HOUR) {
            dlex_checkpoint();
            log_mark('b');
        } dlex_end
    } else {
        dlex_try_within_rel_shielded(HOUR) {
            log_mark('b');
        } dlex_end
    }
}

static void on_signal(int signo)
{
    (void)signo;
    burn_until(outer_deadline_ns + MS);
    if (what == OPENS)
        open_in_the_handler();
    else if (what == OPENS_LATE)
        open_late_in_the_handler();
    else if (what == CHECKS)
        dlex_checkpoint();
    else if (what == ENABLES) {
        dlex_try_within_disable();
        dlex_try_within_enable();
    } else
        open_others_in_the_handler();
    log_mark('h');
}

static void be_interrupted(void)
{
    const struct sigaction action = { .sa_handler = on_signal };
    ck_assert_int_eq(dlex_sigaction(SIGUSR1, &action, NULL), 0);
    outer_deadline_ns = dlex_now_ns() + SOON;
    dlex_try_within_abs(outer_deadline_ns) {
        raise(SIGUSR1);
        burn(HOUR);
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
}

START_TEST(handler_that_opens_any_block_runs_to_its_end_before_the_violation)
{
    static const char *const expected[HANDLERS] = { "bhd", "lhd", "bhd", "bhd", "hd", "hd" };
    for (what = 0; what < HANDLERS; what = what + 1) {
        log_clear();
        be_interrupted();
        ck_assert_str_eq(log_text(), expected[what]);
        ck_assert(!is_blocked(SIGUSR1) && !is_blocked(dlex_signal()));
        ck_assert_int_eq(dlex_guard_.depth, 0);
    }
}
END_TEST

/* The calls are paired correctly. The interrupted block goes on after the handler. */
static void on_signal_change_the_mask(int signo)
{
    sigset_t set, old;
    (void)signo;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    dlex_sigmask(SIG_BLOCK, &set, &old);
    dlex_sigmask(SIG_SETMASK, &old, NULL);
}

START_TEST(abort_does_not_restore_the_mask_of_a_handler)
{
    const struct sigaction action = { .sa_handler = on_signal_change_the_mask };
    ck_assert_int_eq(dlex_sigaction(SIGUSR1, &action, NULL), 0);
    dlex_try_within_rel(5 * MS) {
        raise(SIGUSR1);
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
    } dlex_end
    ck_assert(!is_blocked(SIGUSR1) && !is_blocked(SIGUSR2));
}
END_TEST

/* A cooperative block sets no timer, so the library's signal is still blocked. */
static void *check_with_all_signals_blocked(void *unused)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    log_clear();
    dlex_try_within_rel_cooperative(MS) {
        burn(2 * MS);
        dlex_checkpoint();
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "d");
    return unused;
}

START_TEST(checkpoint_needs_no_signal)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, check_with_all_signals_blocked, NULL), 0);
    pthread_join(thread, NULL);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        abort_inside_a_call_with_a_mask_of_its_own_restores_the_mask,
        mask_that_the_body_changed_itself_stays_changed,
        handler_that_opens_any_block_runs_to_its_end_before_the_violation,
        abort_does_not_restore_the_mask_of_a_handler,
        checkpoint_needs_no_signal,
        NULL,
    };
    return suite_run("libdlex handlers", 120, tests);
}
