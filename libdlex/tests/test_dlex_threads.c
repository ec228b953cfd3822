/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Blocks in several threads, threads that end inside blocks, and forked children. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dlex_testing.h"

static void *count_own_violations(void *arg)
{
    const int64_t within_ns = *(const int64_t *)arg;
    volatile intptr_t wrong = 0;
    for (volatile int i = 0; i < 200; i++) {
        const int64_t deadline_ns = dlex_now_ns() + within_ns;
        volatile bool violated = false;
        dlex_try_within_abs(deadline_ns) {
            burn(HOUR);
        } dlex_handle dlex_when(dlex_deadline_violation) {
            violated = true;
        } dlex_end
        wrong = wrong + (!violated || dlex_last_violation()->deadline_ns != deadline_ns);
    }
    return (void *)wrong;
}

START_TEST(each_thread_gets_its_own_violations)
{
    const int64_t within_ns[4] = { 100000, 130000, 170000, 190000 };
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, count_own_violations, (void *)&within_ns[i]), 0);
    for (int i = 0; i < 4; i++) {
        void *wrong = NULL;
        ck_assert_int_eq(pthread_join(threads[i], &wrong), 0);
        ck_assert_ptr_null(wrong);
    }
}
END_TEST

static void *sleep_beside(void *arg)
{
    volatile int *interrupted = arg;
    const struct timespec nap = { .tv_nsec = 50 * MS };
    *interrupted = nanosleep(&nap, NULL) != 0;
    return NULL;
}

START_TEST(violations_of_one_thread_do_not_interrupt_another)
{
    volatile int interrupted = -1;
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, sleep_beside, (void *)&interrupted), 0);
    const int64_t within_ns = 100000;
    const void *const wrong = count_own_violations((void *)&within_ns);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_ptr_null(wrong);
    ck_assert_int_eq(interrupted, 0);
}
END_TEST

START_TEST(thread_created_with_all_signals_blocked_gets_its_violations)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int64_t within_ns = 100000;
    pthread_t thread;
    const int err = pthread_create(&thread, NULL, count_own_violations, (void *)&within_ns);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    ck_assert_int_eq(err, 0);
    void *wrong = NULL;
    ck_assert_int_eq(pthread_join(thread, &wrong), 0);
    ck_assert_ptr_null(wrong);
}
END_TEST

static void *exit_in_a_block(void *arg)
{
    const intptr_t mode = (intptr_t)arg;
    volatile bool failed = false;
    dlex_try_within_rel(mode % 2 ? HOUR : MS) {
        dlex_try_within_disable();
        pthread_exit(NULL);
    } dlex_handle dlex_when(dlex_timer_error) {
        failed = true;
    } dlex_when(dlex_deadline_violation) {
        /* The deadline of a millisecond passed before the section began: this is not a failure. */
        return NULL;
    } dlex_end
    return (void *)(intptr_t)failed;
}

/* Returns the number of signals that all processes of this user have queued, or reserved for timers. */
static rlim_t signals_queued(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    unsigned long queued = 0;
    while (status && fgets(line, sizeof(line), status)) {
        if (sscanf(line, "SigQ: %lu", &queued) == 1)
            break;
    }
    if (status)
        fclose(status);
    return queued;
}

/* Each timer counts against RLIMIT_SIGPENDING. With a low limit, timers that threads leave behind soon
 * make the next timer fail. The limit leaves room for the user's other programs. */
START_TEST(threads_that_exit_in_a_block_leave_no_timer_behind)
{
    struct rlimit before;
    ck_assert_int_eq(getrlimit(RLIMIT_SIGPENDING, &before), 0);
    const struct rlimit low = { .rlim_cur = signals_queued() + 500, .rlim_max = before.rlim_max };
    ck_assert_int_eq(setrlimit(RLIMIT_SIGPENDING, &low), 0);
    intptr_t failures = 0;
    for (intptr_t i = 0; i < 1000; i++) {
        pthread_t thread;
        void *failed = NULL;
        if (pthread_create(&thread, NULL, exit_in_a_block, (void *)i) == 0)
            pthread_join(thread, &failed);
        failures += (intptr_t)failed;
    }
    setrlimit(RLIMIT_SIGPENDING, &before);
    ck_assert_int_eq(failures, 0);
}
END_TEST

/* AddressSanitizer does not learn that the frame of a cancelled thread is gone, and mistakes later
 * contents of the stack for its red zones. */
__attribute__((no_sanitize("address")))
static void *spin_in_a_block(void *arg)
{
    (void)arg;
    dlex_try_within_rel(HOUR) {
        for (;;)
            pthread_testcancel();
    } dlex_end
    return NULL;
}

START_TEST(cancelled_thread_ends_inside_its_block)
{
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        void *result = NULL;
        ck_assert_int_eq(pthread_create(&thread, NULL, spin_in_a_block, NULL), 0);
        ck_assert_int_eq(pthread_cancel(thread), 0);
        ck_assert_int_eq(pthread_join(thread, &result), 0);
        ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    }
}
END_TEST

static int wait_for(pid_t child)
{
    int status = -1;
    if (waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

START_TEST(forked_child_has_its_own_deadlines)
{
    const int64_t within_ns = 100000;
    const void *const wrong = count_own_violations((void *)&within_ns);
    ck_assert_ptr_null(wrong);
    const pid_t child = fork();
    if (child == 0)
        _exit(count_own_violations((void *)&within_ns) ? 1 : 0);
    ck_assert_int_eq(wait_for(child), 0);
    ck_assert_ptr_null(count_own_violations((void *)&within_ns));
}
END_TEST

/* The block is open in both processes, and its deadline passes in both. */
static int fork_inside(int64_t deadline_ns, bool pass_in_section, volatile pid_t *child)
{
    volatile int violated = 0;
    dlex_try_within_abs(deadline_ns) {
        dlex_try_within_disable();
        *child = fork();
        if (pass_in_section)
            burn_until(deadline_ns + MS);
        dlex_try_within_enable();
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        violated = 1;
    } dlex_end
    return violated;
}

START_TEST(block_open_at_fork_keeps_its_deadline_in_both_processes)
{
    for (int i = 0; i < 2; i++) {
        const int64_t deadline_ns = dlex_now_ns() + SOON;
        volatile pid_t child = -1;
        const int violated = fork_inside(deadline_ns, i == 1, &child);
        if (child == 0)
            _exit(violated ? 0 : 1);
        ck_assert_int_eq(violated, 1);
        ck_assert_int_ge(child, 0);
        ck_assert_int_eq(wait_for(child), 0);
    }
}
END_TEST

static void burn_cpu_until(int64_t time_ns)
{
    while (dlex_cpu_ns() < time_ns)
        ;
}

static int64_t limit_of_wcet_at_fork(int64_t ns, volatile pid_t *child)
{
    volatile int64_t limit_ns = INT64_MAX;
    dlex_try_within_wcet(ns) {
        dlex_try_within_rel(HOUR) {
            dlex_try_within_disable();
            *child = fork();
            dlex_try_within_enable();
            burn(HOUR);
        } dlex_end
    } dlex_handle dlex_when(dlex_wcet_violation) {
        limit_ns = dlex_last_violation()->deadline_ns;
    } dlex_end
    return limit_ns;
}

/* In the child, the clock of the thread's CPU time begins at zero. */
START_TEST(block_open_at_fork_keeps_the_rest_of_its_wcet_in_both_processes)
{
    const int64_t ns = 10 * MS;
    burn_cpu_until(10 * ns);
    volatile pid_t child = -1;
    const int64_t limit_ns = limit_of_wcet_at_fork(ns, &child);
    if (child == 0)
        _exit(limit_ns <= ns ? 0 : 1);
    ck_assert_int_gt(child, 0);
    ck_assert_int_ge(limit_ns, 11 * ns);
    ck_assert_int_lt(limit_ns, INT64_MAX);
    ck_assert_int_eq(wait_for(child), 0);
}
END_TEST

static bool fork_in_finally(volatile pid_t *child)
{
    volatile int runs = 0, handled = 0;
    dlex_try_within_abs(0) {
        runs = -1;
    } dlex_finally {
        *child = fork();
        runs = runs + 1;
    } dlex_handle dlex_when(dlex_deadline_violation) {
        handled = 1;
    } dlex_end
    return runs == 1 && handled;
}

START_TEST(fork_in_a_finally_part_continues_to_the_handler_in_both_processes)
{
    volatile pid_t child = -1;
    const bool right = fork_in_finally(&child);
    if (child == 0)
        _exit(right ? 0 : 1);
    ck_assert(right);
    ck_assert_int_eq(wait_for(child), 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        each_thread_gets_its_own_violations,
        violations_of_one_thread_do_not_interrupt_another,
        thread_created_with_all_signals_blocked_gets_its_violations,
        threads_that_exit_in_a_block_leave_no_timer_behind,
        cancelled_thread_ends_inside_its_block,
        forked_child_has_its_own_deadlines,
        block_open_at_fork_keeps_its_deadline_in_both_processes,
        block_open_at_fork_keeps_the_rest_of_its_wcet_in_both_processes,
        fork_in_a_finally_part_continues_to_the_handler_in_both_processes,
        NULL,
    };
    return suite_run("libdlex threads and processes", 120, tests);
}
