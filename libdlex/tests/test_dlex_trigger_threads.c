/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Triggers that are fired by the thread itself or by signal handlers, at a thread that waits for a lock, and
 * processes and threads that end. Not here: handlers that are never left (test_dlex_trigger_handlers.c). */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "trigger_testing.h"

START_TEST(thread_fires_at_its_own_block)
{
    log_clear();
    dlex_trigger_reset(&trigger);
    dlex_try {
        dlex_trigger_bind(&trigger);
        dlex_trigger_fire(&trigger);
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
    } dlex_end
    dlex_trigger_reset(&trigger);
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        dlex_try_within_disable();
        log_mark(dlex_trigger_fire(&trigger) == 0 ? 'p' : 'x');
        dlex_try_within_enable();
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
    } dlex_end
    ck_assert_str_eq(log_text(), "tpt");
}
END_TEST

static void fire_in_a_handler(int signo)
{
    (void)signo;
    log_mark(dlex_trigger_fire(&trigger) == 0 ? 'h' : 'x');
    log_mark('r');
}

static void handle_sigusr1(void (*install)(const struct sigaction *))
{
    struct sigaction action = { .sa_handler = fire_in_a_handler };
    sigemptyset(&action.sa_mask);
    install(&action);
}

static void by_dlex_sigaction(const struct sigaction *action)
{
    dlex_sigaction(SIGUSR1, action, NULL);
}

START_TEST(signal_handler_fires_at_the_block_that_it_interrupts)
{
    log_clear();
    dlex_trigger_reset(&trigger);
    handle_sigusr1(by_dlex_sigaction);
    dlex_try {
        dlex_trigger_bind(&trigger);
        raise(SIGUSR1);
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
    } dlex_end
    ck_assert_str_eq(log_text(), "hrt");
}
END_TEST

static void *be_signalled(void *thread)
{
    while (!begun)
        usleep(100);
    pthread_kill(*(pthread_t *)thread, SIGUSR1);
    return NULL;
}

static _Atomic bool stop;

static void *sleep_until_stopped(void *unused)
{
    while (!stop)
        usleep(1000);
    return unused;
}

START_TEST(signal_handler_of_another_thread_fires)
{
    pthread_t handling, signalling;
    handle_sigusr1(by_dlex_sigaction);
    dlex_trigger_reset(&trigger);
    stop = begun = false;
    volatile bool left = false;
    ck_assert_int_eq(pthread_create(&handling, NULL, sleep_until_stopped, NULL), 0);
    ck_assert_int_eq(pthread_create(&signalling, NULL, be_signalled, &handling), 0);
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        begun = true;
        burn(HOUR);
    } dlex_handle dlex_when(dlex_trigger_violation) {
        left = true;
    } dlex_end
    stop = true;
    pthread_join(handling, NULL);
    pthread_join(signalling, NULL);
    ck_assert(left);
}
END_TEST

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void waiting_for_a_lock(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        begun = true;
        dlex_scoped_mutex_lock(&mutex);
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
    } dlex_end
}

START_TEST(wait_for_a_scoped_lock_is_left_soon)
{
    pthread_mutex_lock(&mutex);
    ck_assert_str_eq(log_of(waiting_for_a_lock), "t");
    pthread_mutex_unlock(&mutex);
    ck_assert_int_eq(pthread_mutex_trylock(&mutex), 0);
    pthread_mutex_unlock(&mutex);
}
END_TEST

/* ---- Processes and threads that end ------------------------------------------------------- */

static int status_of(void (*run)(void))
{
    int status = -1;
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        alarm(60);
        run();
        _exit(0);
    }
    waitpid(pid, &status, 0);
    return status;
}

static void fire_in_the_child(void)
{
    dlex_trigger_reset(&trigger);
    dlex_try {
        dlex_trigger_bind(&trigger);
        begun = true;
        for (;;)
            sleep(100);
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
    } dlex_end
}

static void child_with_a_block_of_its_own(void)
{
    _exit(strcmp(log_of(fire_in_the_child), "t"));
}

static void in_a_block(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        begun = true;
        burn(HOUR);
    } dlex_handle dlex_when(dlex_trigger_violation) {
    } dlex_end
}

START_TEST(child_fires_at_blocks_that_it_opens)
{
    log_of(in_a_block); /* this thread has a number, and the child inherits it */
    ck_assert_int_eq(status_of(child_with_a_block_of_its_own), 0);
}
END_TEST

static volatile pid_t child;

static void fork_in_a_bound_block(void)
{
    dlex_try_within_abs(INT64_MAX) {
        dlex_trigger_bind(&trigger);
        dlex_try_within_disable();
        child = fork();
        dlex_try_within_enable();
        if (child == 0) {
            pthread_t thread;
            alarm(60);
            dlex_try_within_disable();
            begun = true;
            pthread_create(&thread, NULL, fire_once_begun, &trigger);
            dlex_try_within_enable();
            burn(HOUR);
        }
        log_mark('e');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
        if (child == 0)
            _exit(strcmp(log_text(), "t"));
    } dlex_end
}

START_TEST(block_that_was_open_at_the_fork_is_bound_in_the_child)
{
    ck_assert_str_eq(log_of(fork_in_a_bound_block), "e");
    int status = -1;
    waitpid(child, &status, 0);
    ck_assert_int_eq(status, 0);
}
END_TEST

static void *bind_until_stopped(void *unused)
{
    dlex_try {
        dlex_trigger_bind(&trigger);
        begun = true;
        while (!stop)
            usleep(1000);
    } dlex_end
    return unused;
}

/* The block is that of a thread that does not exist in the child. */
static void fire_at_a_missing_thread(void)
{
    if (dlex_trigger_fire(&trigger) != 0)
        _exit(1);
    dlex_trigger_reset(&trigger);
    dlex_try {
        dlex_trigger_bind(&trigger);
    } dlex_end
}

START_TEST(child_does_not_fire_at_threads_of_its_parent)
{
    pthread_t thread;
    dlex_trigger_reset(&trigger);
    stop = begun = false;
    ck_assert_int_eq(pthread_create(&thread, NULL, bind_until_stopped, NULL), 0);
    while (!begun)
        usleep(100);
    const int status = status_of(fire_at_a_missing_thread);
    stop = true;
    pthread_join(thread, NULL);
    ck_assert_int_eq(status, 0);
}
END_TEST

static void *end_with_a_block_open(void *unused)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        dlex_try_within_disable();
        pthread_exit(unused);
    } dlex_end
    return unused;
}

/* A sleep of a new thread, which may have the memory and the id of one that has ended. */
static void *sleep_shortly(void *arg)
{
    struct timespec left = { .tv_nsec = 2 * MS };
    (void)arg;
    return nanosleep(&left, NULL) == 0 ? &trigger : NULL;
}

START_TEST(firing_at_a_thread_that_has_ended_with_its_block_open_reaches_no_thread)
{
    for (int i = 0; i < 100; i++) {
        pthread_t thread;
        void *slept = NULL;
        dlex_trigger_reset(&trigger);
        result_of(end_with_a_block_open);
        ck_assert_int_eq(pthread_create(&thread, NULL, sleep_shortly, NULL), 0);
        ck_assert_int_eq(dlex_trigger_fire(&trigger), 0);
        pthread_join(thread, &slept);
        ck_assert_ptr_nonnull(slept);
    }
    dlex_trigger_reset(&trigger);
    dlex_try {
        dlex_trigger_bind(&trigger);
    } dlex_end
    ck_assert_int_eq(trigger.thread_, 0);
}
END_TEST

static pthread_key_t key;
static _Atomic int rounds, misses;

static void fire_in_a_destructor(void *arg)
{
    struct dlex_trigger own = { 0 };
    volatile bool left = false;
    const int round = ++rounds;
    dlex_try {
        dlex_trigger_bind(&own);
        dlex_trigger_fire(&own);
    } dlex_handle dlex_when(dlex_trigger_violation) {
        left = true;
    } dlex_end
    misses += !left;
    if (round % DESTRUCTOR_ROUNDS)
        pthread_setspecific(key, arg);
}

static void *end_with_destructors(void *arg)
{
    pthread_setspecific(key, &key);
    if (rounds % 2)
        result_of(sleep_shortly);
    dlex_try_within_rel(HOUR) { } dlex_end
    return arg;
}

START_TEST(blocks_in_destructors_are_fired_and_leave_no_thread_in_the_list)
{
    ck_assert_int_eq(pthread_key_create(&key, fire_in_a_destructor), 0);
    for (int i = 0; i < 100; i++)
        result_of(end_with_destructors);
    pthread_key_delete(key);
    ck_assert_int_eq(rounds, 100 * DESTRUCTOR_ROUNDS);
    ck_assert_int_eq(misses, 0);
    dlex_try {
        dlex_trigger_bind(&trigger);
    } dlex_end
    ck_assert_ptr_null(dlex_thread_state.target.next);
}
END_TEST

/* The first firing marks the trigger, but cannot send the signal; the second one sends it. */
static void fire_without_signals(void)
{
    struct rlimit usual, none;
    volatile int result = 0;
    getrlimit(RLIMIT_SIGPENDING, &usual);
    none = usual;
    none.rlim_cur = 0;
    dlex_try {
        dlex_trigger_bind(&trigger);
        dlex_try_within_disable();
        setrlimit(RLIMIT_SIGPENDING, &none);
        result = dlex_trigger_fire(&trigger);
        setrlimit(RLIMIT_SIGPENDING, &usual);
        if (result != -EAGAIN || dlex_guard_.pending)
            _exit(1);
        result = dlex_trigger_fire(&trigger);
        if (result != 0 || !dlex_guard_.pending)
            _exit(2);
        dlex_try_within_enable();
        _exit(3);
    } dlex_handle dlex_when(dlex_trigger_violation) {
        _exit(0);
    } dlex_end
}

START_TEST(firing_reports_that_no_signal_can_be_sent_and_can_be_repeated)
{
    dlex_trigger_reset(&trigger);
    ck_assert_int_eq(status_of(fire_without_signals), 0);
}
END_TEST

static void bind_without_a_block(void)
{
    dlex_trigger_bind(&trigger);
}

static void bind_two_triggers(void)
{
    dlex_try {
        dlex_trigger_bind(&trigger);
        dlex_trigger_bind(&trigger);
        dlex_trigger_bind(&other);
    } dlex_end
}

static void bind_in_two_threads(void)
{
    pthread_t thread;
    stop = begun = false;
    pthread_create(&thread, NULL, bind_until_stopped, NULL);
    while (!begun)
        usleep(100);
    dlex_try {
        dlex_trigger_bind(&trigger);
    } dlex_end
}

START_TEST(mistakes_abort)
{
    static void (*const mistakes[])(void) = { bind_without_a_block, bind_two_triggers, bind_in_two_threads };
    dlex_trigger_reset(&trigger);
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        const int status = status_of(mistakes[i]);
        ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        thread_fires_at_its_own_block,
        signal_handler_fires_at_the_block_that_it_interrupts,
        signal_handler_of_another_thread_fires,
        wait_for_a_scoped_lock_is_left_soon,
        child_fires_at_blocks_that_it_opens,
        block_that_was_open_at_the_fork_is_bound_in_the_child,
        child_does_not_fire_at_threads_of_its_parent,
        firing_at_a_thread_that_has_ended_with_its_block_open_reaches_no_thread,
        blocks_in_destructors_are_fired_and_leave_no_thread_in_the_list,
        firing_reports_that_no_signal_can_be_sent_and_can_be_repeated,
        mistakes_abort,
        NULL,
    };
    return suite_run("libdlex trigger threads", 120, tests);
}
