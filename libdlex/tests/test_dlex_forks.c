/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Forks in the middle of the steps that the library takes once in a process or a thread: while another
 * thread takes them, and in a signal handler that returns in the child. This program replaces some
 * functions that the library calls, in order to slow down or interrupt these calls. Each test runs in
 * its own process, in which nothing has happened yet. Not here: forks between blocks
 * (test_dlex_processes.c) and with a block open (test_dlex_threads.c). */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dlex_testing.h"

enum { HANG_S = 60 };

/* The call of the library that the program slows down or interrupts. */
enum place { NOWHERE, IN_TAKING_THE_SIGNAL, IN_CREATING, IN_ARMING };
static volatile enum place place;
static volatile bool reached;

static void stop_at(enum place here)
{
    if (place != here)
        return;
    place = NOWHERE;
    reached = true;
    if (here == IN_TAKING_THE_SIGNAL)
        usleep(SOON / 1000);
    else
        raise(SIGUSR1);
}

/* Finds the next function of this name: that of the C library or of the sanitizer. */
#define NEXT(function, result, ...)                                                             \
    static result (*next)(__VA_ARGS__);                                                         \
    if (!next)                                                                                  \
        next = (result (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #function);

int sigaction(int number, const struct sigaction *restrict action, struct sigaction *restrict old)
{
    NEXT(sigaction, int, int, const struct sigaction *, struct sigaction *)
    const int result = next(number, action, old);
    if (action && number == dlex_signal())
        stop_at(IN_TAKING_THE_SIGNAL);
    return result;
}

#ifdef NOTIFICATION_POSIX
int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attr,
                   void *(*start)(void *), void *restrict arg)
{
    NEXT(pthread_create, int, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *)
    const int err = next(thread, attr, start, arg);
    stop_at(IN_CREATING);
    return err;
}

int pthread_kill(pthread_t thread, int number)
{
    NEXT(pthread_kill, int, pthread_t, int)
    if (number == dlex_signal())
        stop_at(IN_ARMING);
    return next(thread, number);
}
#else
int timer_create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict timer)
{
    NEXT(timer_create, int, clockid_t, struct sigevent *, timer_t *)
    const int err = next(clock, event, timer);
    stop_at(IN_CREATING);
    return err;
}

int timer_settime(timer_t timer, int flags, const struct itimerspec *restrict value,
                  struct itimerspec *restrict old)
{
    NEXT(timer_settime, int, timer_t, int, const struct itimerspec *, struct itimerspec *)
    stop_at(IN_ARMING);
    return next(timer, flags, value, old);
}
#endif

static int abort_one_block(void)
{
    volatile int aborted = 0;
    dlex_try_within_rel(5 * MS) {
        burn(HOUR);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        aborted = 1;
    } dlex_when_any { } dlex_end
    return aborted;
}

/* Returns 0 if the process has ended as it should. */
static int status_of(pid_t child)
{
    int status = -1;
    return waitpid(child, &status, 0) == child ? status : -1;
}

/* libcheck has a handler for SIGALRM, which would end all processes of this program. */
static void end_if_hanging(unsigned seconds)
{
    signal(SIGALRM, SIG_DFL);
    alarm(seconds);
}

static int status_in_process(int (*scenario)(void))
{
    const pid_t process = fork();
    if (process == 0) {
        end_if_hanging(HANG_S);
        _exit(scenario());
    }
    return status_of(process);
}

static void *open_first_block(void *unused)
{
    abort_one_block();
    return unused;
}

static int abort_one_block_in_child(void)
{
    const pid_t child = fork();
    if (child == 0) {
        end_if_hanging(HANG_S / 2);
        _exit(!abort_one_block());
    }
    return status_of(child) != 0;
}

static int fork_beside_a_first_block(void)
{
    pthread_t thread;
    place = IN_TAKING_THE_SIGNAL;
    if (pthread_create(&thread, NULL, open_first_block, NULL) != 0)
        return 2;
    while (!reached)
        usleep(100);
    const int wrong = abort_one_block_in_child();
    pthread_join(thread, NULL);
    return wrong;
}

START_TEST(child_forked_beside_another_threads_first_block_has_deadlines)
{
    ck_assert_int_eq(status_in_process(fork_beside_a_first_block), 0);
}
END_TEST

static void *open_one_block(void *unused)
{
    dlex_try_within_rel(HOUR) { } dlex_end
    return unused;
}

/* The first thread has installed the handler, and waits. The others find the handler installed. */
static int threads_begin_together(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    place = IN_TAKING_THE_SIGNAL;
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, open_one_block, NULL) != 0)
            return 2;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return !abort_one_block();
}

START_TEST(first_blocks_of_many_threads_at_once_all_get_the_signal)
{
    ck_assert_int_eq(status_in_process(threads_begin_together), 0);
}
END_TEST

static volatile pid_t child_of_handler;

static void fork_and_return(int number)
{
    (void)number;
    child_of_handler = fork();
    if (child_of_handler == 0)
        end_if_hanging(HANG_S / 2);
}

/* In both processes the block that was being opened during the fork, and two more, are aborted in time. */
static int fork_in_handler(enum place where)
{
    const struct sigaction action = { .sa_handler = fork_and_return };
    dlex_sigaction(SIGUSR1, &action, NULL);
    place = where;
    const bool right = abort_one_block() && abort_one_block() && abort_one_block();
    if (child_of_handler == 0)
        _exit(!right);
    return reached && right ? status_of(child_of_handler) != 0 : 1;
}

static int fork_in_handler_while_creating(void)
{
    return fork_in_handler(IN_CREATING);
}

static int fork_in_handler_while_arming(void)
{
    return fork_in_handler(IN_ARMING);
}

/* With the POSIX notification the child starts a thread. GCC 12's AddressSanitizer copies the lock of its allocator into the
 * child, also while a thread of the parent holds it, and the child's thread waits for that lock for ever. */
#if defined NOTIFICATION_POSIX && defined __SANITIZE_ADDRESS__
enum { CHILD_CAN_START_THREADS = 0 };
#else
enum { CHILD_CAN_START_THREADS = 1 };
#endif

START_TEST(child_of_a_handler_that_forks_while_the_timer_is_created_has_deadlines)
{
    if (!CHILD_CAN_START_THREADS)
        return;
    ck_assert_int_eq(status_in_process(fork_in_handler_while_creating), 0);
}
END_TEST

START_TEST(child_of_a_handler_that_forks_while_the_timer_is_armed_has_deadlines)
{
    ck_assert_int_eq(status_in_process(fork_in_handler_while_arming), 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        child_forked_beside_another_threads_first_block_has_deadlines,
        first_blocks_of_many_threads_at_once_all_get_the_signal,
        child_of_a_handler_that_forks_while_the_timer_is_created_has_deadlines,
        child_of_a_handler_that_forks_while_the_timer_is_armed_has_deadlines,
        NULL,
    };
    return suite_run("libdlex forks", 120, tests);
}
