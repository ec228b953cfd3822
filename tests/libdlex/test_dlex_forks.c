/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Forks in the middle of what the library does once in a process, beside another thread. This
 * program slows down the calls of the library where it has functions of the same name. Each test runs in a process of its own, in
 * which nothing has happened yet. Not here: forks between blocks (test_dlex_processes.c) and with a
 * block open (test_dlex_threads.c). */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dlex_testing.h"

enum { HANG_S = 20 };

/* Where the program gets in between. */
enum place { NOWHERE, IN_TAKING_THE_SIGNAL };
static volatile enum place place;
static volatile bool reached;

static void stop_at(enum place here)
{
    if (place != here)
        return;
    place = NOWHERE;
    reached = true;
    usleep(SOON / 1000);
}

/* The next function of the name in the program, the C library's or the sanitizer's. */
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

/* 0 when the process has ended as it should. */
static int status_of(pid_t child)
{
    int status = -1;
    return waitpid(child, &status, 0) == child ? status : -1;
}

/* libcheck handles SIGALRM, by an end of all processes here. */
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

/* The first thread has installed the handler, and waits; the others find it. */
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

int main(void)
{
    const TTest *const tests[] = {
        child_forked_beside_another_threads_first_block_has_deadlines,
        first_blocks_of_many_threads_at_once_all_get_the_signal,
        NULL,
    };
    return suite_run("libdlex forks", 120, tests);
}
