/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests that need their own process: the choice of the signal's number, exec, spawned and forked
 * children, threads that start and end. For that this program runs itself with the name of an act.
 * Not here: forks with a block open (test_dlex_threads.c); _Fork and clone, which the contract
 * excludes. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dlex_testing.h"

extern char **environ;

static const char self[] = "/proc/self/exe";

static int abort_one_block(void)
{
    volatile int aborted = 0;
    dlex_try_within_rel(MS) {
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        aborted = 1;
    } dlex_end
    return aborted;
}

static bool has_default_action(int signo)
{
    struct sigaction now;
    return sigaction(signo, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO)
           && now.sa_handler == SIG_DFL;
}

static void nothing(int number)
{
    (void)number;
}

/* Acts: each is the main function of a new process. It returns 0, or the number of the error. */

static int another_number_works(void)
{
    const int usual = dlex_signal(), chosen = SIGRTMIN + 3;
    if (usual != SIGRTMIN + 7 || dlex_use_signal(chosen) != 0 || dlex_signal() != chosen)
        return 1;
    if (dlex_use_signal(SIGUSR2) != 0 || dlex_use_signal(chosen) != 0)
        return 2;
    if (!abort_one_block())
        return 3;
    if (!has_default_action(usual) || !has_default_action(SIGUSR2) || has_default_action(chosen))
        return 4;
    return dlex_use_signal(usual) == -EBUSY && dlex_use_signal(chosen) == 0
           && dlex_signal() == chosen ? 0 : 5;
}

static int classic_signal_works(void)
{
    if (dlex_use_signal(SIGUSR2) != 0)
        return 1;
    for (int i = 0; i < 100; i++) {
        if (!abort_one_block())
            return 2;
    }
    return 0;
}

static int unfit_numbers_are_refused(void)
{
    const int unfit[] = { 0, -1, SIGKILL, SIGSTOP, SIGSEGV, SIGABRT, SIGRTMIN - 1, SIGRTMAX + 1 };
    for (unsigned i = 0; i < sizeof(unfit) / sizeof(unfit[0]); i++) {
        if (dlex_use_signal(unfit[i]) != -EINVAL)
            return 1 + (int)i;
    }
    signal(SIGUSR1, nothing);
    if (dlex_use_signal(SIGUSR1) != -EBUSY)
        return 20;
    return dlex_signal() == SIGRTMIN + 7 && abort_one_block() ? 0 : 21;
}

static int number_that_is_taken_can_be_changed_after_the_error(void)
{
    signal(dlex_signal(), nothing);
    if (dlex_thread_init() != -EBUSY || dlex_thread_init() != -EBUSY)
        return 1;
    if (dlex_use_signal(SIGRTMIN + 4) != 0 || dlex_thread_init() != 0)
        return 2;
    return abort_one_block() ? 0 : 3;
}

static int ignored_signal_is_free(void)
{
    signal(dlex_signal(), SIG_IGN);
    return abort_one_block() ? 0 : 1;
}

/* As Go's runtime leaves it. */
static int ignored_signal_with_siginfo_is_free(void)
{
    struct sigaction action = { .sa_handler = SIG_IGN, .sa_flags = SA_SIGINFO };
    sigaction(SIGRTMIN + 8, &action, NULL);
    action.sa_handler = SIG_DFL;
    sigaction(SIGRTMIN + 9, &action, NULL);
    if (dlex_use_signal(SIGRTMIN + 8) != 0 || dlex_use_signal(SIGRTMIN + 9) != 0)
        return 1;
    action.sa_handler = SIG_IGN;
    sigaction(SIGRTMIN + 9, &action, NULL);
    return abort_one_block() ? 0 : 2;
}

static int dlex_sigaction_fixes_the_number(void)
{
    const struct sigaction action = { .sa_handler = nothing };
    struct sigaction installed;
    if (dlex_use_signal(SIGRTMIN + 2) != 0 || dlex_sigaction(SIGUSR1, &action, NULL) != 0)
        return 1;
    if (dlex_use_signal(SIGRTMIN + 3) != -EBUSY)
        return 2;
    sigaction(SIGUSR1, NULL, &installed);
    return sigismember(&installed.sa_mask, SIGRTMIN + 2) && abort_one_block() ? 0 : 3;
}

/* If a signal of the library arrived here, it would end this process or its sleep. */
static int live(void)
{
    const struct timespec nap = { .tv_nsec = 3 * MS };
    return nanosleep(&nap, NULL) == 0 && has_default_action(dlex_signal()) ? 0 : 1;
}

static void *abort_two_blocks(void *unused)
{
    (void)unused;
    abort_one_block();
    abort_one_block();
    return NULL;
}

static int process_ends_with_its_last_thread(void)
{
    pthread_t thread;
    if (dlex_thread_init() != 0 || pthread_create(&thread, NULL, abort_two_blocks, NULL) != 0)
        return 1;
    pthread_detach(thread);
    pthread_exit(NULL);
}

static pthread_mutex_t of_the_program = PTHREAD_MUTEX_INITIALIZER;
static volatile int fork_step;

static void step_from(int step)
{
    while (fork_step != step)
        usleep(100);
    fork_step = step + 1;
}

static void take_before_fork(void)
{
    step_from(1);
    pthread_mutex_lock(&of_the_program);
}

static void give_after_fork(void)
{
    pthread_mutex_unlock(&of_the_program);
}

static void *get_a_timer_with_the_mutex(void *unused)
{
    pthread_mutex_lock(&of_the_program);
    step_from(0);
    step_from(2);
    dlex_thread_init();
    pthread_mutex_unlock(&of_the_program);
    return unused;
}

/* With the other order of the fork handlers there is a deadlock: fork holds the router's lock and waits
 * for the mutex, while the thread holds the mutex and waits for the router's lock. */
static int fork_waits_for_the_program_before_it_stops_the_router(void)
{
    pthread_t thread;
    pthread_atfork(take_before_fork, give_after_fork, give_after_fork);
    dlex_thread_init();
    pthread_create(&thread, NULL, get_a_timer_with_the_mutex, NULL);
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    int status = -1;
    waitpid(child, &status, 0);
    pthread_join(thread, NULL);
    return status;
}

static const struct act {
    const char *name;
    int (*play)(void);
} acts[] = {
    { "another_number_works", another_number_works },
    { "classic_signal_works", classic_signal_works },
    { "unfit_numbers_are_refused", unfit_numbers_are_refused },
    { "number_that_is_taken_can_be_changed_after_the_error",
      number_that_is_taken_can_be_changed_after_the_error },
    { "ignored_signal_is_free", ignored_signal_is_free },
    { "ignored_signal_with_siginfo_is_free", ignored_signal_with_siginfo_is_free },
    { "dlex_sigaction_fixes_the_number", dlex_sigaction_fixes_the_number },
    { "process_ends_with_its_last_thread", process_ends_with_its_last_thread },
    { "fork_waits_for_the_program_before_it_stops_the_router",
      fork_waits_for_the_program_before_it_stops_the_router },
    { "live", live },
};

static int play(const char *name)
{
    for (unsigned i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
        if (strcmp(acts[i].name, name) == 0)
            return acts[i].play();
    }
    return 99;
}

/* Tests */

static int status_of(pid_t child)
{
    int status = -1;
    if (waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

static int status_of_spawned(const char *act)
{
    char *const arguments[] = { (char *)self, (char *)act, NULL };
    pid_t child = -1;
    if (posix_spawn(&child, self, NULL, NULL, arguments, environ) != 0)
        return -1;
    return status_of(child);
}

/* Runs all acts except the last one, which is for exec. */
START_TEST(every_act_succeeds_in_its_own_process)
{
    const unsigned count = sizeof(acts) / sizeof(acts[0]) - 1;
    for (unsigned i = 0; i < count; i++) {
        const int status = status_of_spawned(acts[i].name);
        ck_assert_msg(status == 0, "%s: %d", acts[i].name, status);
    }
}
END_TEST

_Noreturn static void exec_live(void)
{
    execl(self, self, "live", (char *)NULL);
    _exit(98);
}

/* With the POSIX notification no deadline may pass during exec. */
static int64_t deadline_for_exec(int i)
{
#ifdef NOTIFICATION_POSIX
    return HOUR + i;
#else
    return 20000 + i * 10000;
#endif
}

_Noreturn static void exec_in_a_block(int64_t ns)
{
    dlex_try_within_rel(ns) {
        exec_live();
    } dlex_handle dlex_when(dlex_deadline_violation) { } dlex_end
    _exit(0); /* too late for exec: this is not a failure */
}

START_TEST(program_started_in_a_block_survives)
{
    for (int i = 0; i < 100; i++) {
        const pid_t child = fork();
        if (child == 0)
            exec_in_a_block(deadline_for_exec(i));
        ck_assert_int_eq(status_of(child), 0);
    }
}
END_TEST

/* Leaves the timer armed. */
static void open_and_close_until(int64_t deadline_ns)
{
    dlex_try_within_abs(deadline_ns) { } dlex_handle dlex_when_any { } dlex_end
}

START_TEST(program_started_after_dlex_idle_survives)
{
    for (int i = 0; i < 100; i++) {
        const pid_t child = fork();
        if (child == 0) {
            open_and_close_until(dlex_now_ns() + 20000 + i * 5000);
            dlex_idle();
            exec_live();
        }
        ck_assert_int_eq(status_of(child), 0);
    }
}
END_TEST

static pid_t start_live(int how)
{
    char *const arguments[] = { (char *)self, "live", NULL };
    pid_t child = -1;
    if (how == 0)
        return posix_spawn(&child, self, NULL, NULL, arguments, environ) == 0 ? child : -1;
    child = how == 1 ? fork() : vfork();
    if (child == 0) {
        execve(self, arguments, environ);
        _exit(98);
    }
    return child;
}

/* The deadline passes before, during or after the start. The section delays the violation to its end. */
START_TEST(program_started_in_a_section_survives_and_the_violation_follows)
{
    for (volatile int i = 0; i < 150; i++) {
        volatile int status = -2;
        volatile bool violated = false;
        dlex_try_within_rel(INT64_C(50000) + i * 10000) {
            dlex_try_within_disable();
            status = status_of(start_live(i % 3));
            dlex_try_within_enable();
            burn(HOUR);
        } dlex_handle dlex_when(dlex_deadline_violation) {
            violated = true;
        } dlex_end
        ck_assert(violated);
        ck_assert(status == 0 || status == -2); /* -2: the violation came before the section */
    }
}
END_TEST

/* With a router the child starts a thread, which allocates. AddressSanitizer's allocator does not handle
 * its locks at a fork, so the child may find a lock taken for ever. The test is left out there. */
#if !(defined NOTIFICATION_POSIX && defined __SANITIZE_ADDRESS__)
static volatile bool stop;

static void *abort_until_stopped(void *unused)
{
    (void)unused;
    volatile intptr_t wrong = 0;
    while (!stop)
        wrong = wrong + !abort_one_block();
    return (void *)wrong;
}

START_TEST(children_forked_beside_threads_with_deadlines_have_their_own_deadlines)
{
    pthread_t threads[3];
    stop = false;
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, abort_until_stopped, NULL), 0);
    int wrong = 0;
    for (int i = 0; i < 100; i++) {
        const pid_t child = fork();
        if (child == 0)
            _exit(abort_one_block() ? 0 : 1);
        wrong += status_of(child) != 0;
    }
    stop = true;
    for (int i = 0; i < 3; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        wrong += failed != NULL;
    }
    ck_assert_int_eq(wrong, 0);
}
END_TEST
#endif

static void *abort_five_blocks(void *unused)
{
    (void)unused;
    volatile intptr_t wrong = 0;
    for (volatile int i = 0; i < 5; i++)
        wrong = wrong + !abort_one_block();
    return (void *)wrong;
}

START_TEST(each_of_fifty_threads_gets_its_own_violations)
{
    pthread_t threads[50];
    int wrong = 0;
    for (int i = 0; i < 50; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, abort_five_blocks, NULL), 0);
    for (int i = 0; i < 50; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        wrong += failed != NULL;
    }
    ck_assert_int_eq(wrong, 0);
}
END_TEST

/* The timer is armed for a time at which the next thread may already have the id of this one. */
static void *end_armed(void *ns)
{
    open_and_close_until(dlex_now_ns() + *(const int64_t *)ns);
    return NULL;
}

static void *sleep_and_compute(void *unused)
{
    (void)unused;
    volatile intptr_t disturbed = 0;
    const struct timespec nap = { .tv_nsec = 20000 };
    disturbed = nanosleep(&nap, NULL) != 0;
    dlex_try_within_rel(HOUR) {
        burn(20000);
    } dlex_handle dlex_when_any {
        disturbed = 1;
    } dlex_end
    return (void *)disturbed;
}

START_TEST(thread_that_ends_with_an_armed_timer_does_not_disturb_the_next_one)
{
    int disturbed = 0;
    for (int i = 0; i < 10000; i++) {
        int64_t ns = 10000 + i * 7919 % 200000;
        pthread_t thread;
        void *result = NULL;
        ck_assert_int_eq(
            pthread_create(&thread, NULL, i % 2 ? sleep_and_compute : end_armed, &ns), 0);
        pthread_join(thread, &result);
        disturbed += result != NULL;
    }
    ck_assert_int_eq(disturbed, 0);
}
END_TEST

/* The leftover expiry comes shortly before, during or after dlex_idle. */
START_TEST(no_leftover_arrives_after_dlex_idle)
{
    const struct timespec nap = { .tv_nsec = 100000 };
    int interrupted = 0;
    for (int i = 0; i < 3000; i++) {
        const int64_t deadline_ns = dlex_now_ns() + 30000;
        open_and_close_until(deadline_ns);
        burn_until(deadline_ns - 20000 + i * 7919 % 80000);
        dlex_idle();
        interrupted += nanosleep(&nap, NULL) != 0;
    }
    ck_assert_int_eq(interrupted, 0);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc > 1)
        return play(argv[1]);
    const TTest *const tests[] = {
        every_act_succeeds_in_its_own_process,
        program_started_in_a_block_survives,
        program_started_after_dlex_idle_survives,
        program_started_in_a_section_survives_and_the_violation_follows,
#if !(defined NOTIFICATION_POSIX && defined __SANITIZE_ADDRESS__)
        children_forked_beside_threads_with_deadlines_have_their_own_deadlines,
#endif
        each_of_fifty_threads_gets_its_own_violations,
        thread_that_ends_with_an_armed_timer_does_not_disturb_the_next_one,
        no_leftover_arrives_after_dlex_idle,
        NULL,
    };
    return suite_run("libdlex processes", 120, tests);
}
