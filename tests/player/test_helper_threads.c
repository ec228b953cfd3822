/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads that a call starts, and that get their role from outside. Not covered: FFmpeg's own (test_decoder_threads.c,
 * tests/input/test_threads.py), and where placement puts them (test_placement.py).
 */
#include "helper_threads.h"
#include "thread_list.h"
#include "thread_role.h"

#include <check.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ns.h"
#include "suite.h"

enum { COMPUTES_MS = 20, LINE_SIZE = 128 };

/* A thread of a library. */
struct helper {
    pthread_t thread;
    const char *name; /* that it gives itself; NULL: none */
    bool computes;
    sem_t begun, may_end;
    pid_t id;
};

static void compute(void)
{
    struct timespec used;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    while (ns_from_timespec(used) < COMPUTES_MS * NS_PER_MS);
}

static void *work(void *arg)
{
    struct helper *const helper = arg;
    helper->id = gettid();
    if (helper->name)
        pthread_setname_np(pthread_self(), helper->name);
    if (helper->computes)
        compute();
    sem_post(&helper->begun);
    sem_wait(&helper->may_end);
    return NULL;
}

static void start(struct helper *helper)
{
    sem_init(&helper->begun, 0, 0);
    sem_init(&helper->may_end, 0, 0);
    ck_assert_int_eq(pthread_create(&helper->thread, NULL, work, helper), 0);
    sem_wait(&helper->begun);
}

static void end(struct helper *helper)
{
    sem_post(&helper->may_end);
    pthread_join(helper->thread, NULL);
}

static struct helper_threads watch_while_starting(struct helper *helpers, int count)
{
    struct helper_watch watch;
    struct helper_threads found = {0};
    helper_watch_begin(&watch, "codec");
    for (int i = 0; i < count; i++)
        start(&helpers[i]);
    helper_watch_end(&watch, &found, ROLE_DECODE);
    return found;
}

START_TEST(threads_started_meanwhile_get_the_role_and_no_others)
{
    struct helper before = {0};
    struct helper helpers[2] = {0};
    struct helper after = {0};
    start(&before);
    struct helper_threads found = watch_while_starting(helpers, 2);
    start(&after);
    ck_assert_int_eq(found.count, 2);
    ck_assert_uint_eq(thread_role_of(helpers[0].id), ROLE_DECODE);
    ck_assert_uint_eq(thread_role_of(helpers[1].id), ROLE_DECODE);
    ck_assert_uint_eq(thread_role_of(before.id), 0);
    ck_assert_uint_eq(thread_role_of(after.id), 0);
    ck_assert_uint_eq(thread_role_of(gettid()), 0);
    helper_threads_release(&found);
    ck_assert_int_eq(found.count, 0);
    ck_assert_uint_eq(thread_role_of(helpers[0].id), 0);
    end(&before);
    end(&helpers[0]);
    end(&helpers[1]);
    end(&after);
}
END_TEST

START_TEST(nameless_threads_are_named)
{
    char own[THREAD_NAME_SIZE];
    strcpy(own, thread_list_name(getpid(), gettid(), (char[THREAD_NAME_SIZE]){0}));
    struct helper helpers[2] = {{.name = NULL}, {.name = "av:h264:df0"}};
    struct helper_threads found = watch_while_starting(helpers, 2);
    char name[THREAD_NAME_SIZE];
    ck_assert_str_eq(thread_list_name(getpid(), helpers[0].id, name), "codec");
    ck_assert_str_eq(thread_list_name(getpid(), helpers[1].id, name), "av:h264:df0");
    ck_assert_str_eq(thread_list_name(getpid(), gettid(), name), own);
    helper_threads_release(&found);
    end(&helpers[0]);
    end(&helpers[1]);
}
END_TEST

/* Returns the signals that a thread blocks, as hexadecimal digits. */
static const char *blocked_signals(pid_t thread, char line[LINE_SIZE])
{
    char path[LINE_SIZE];
    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)thread);
    FILE *const status = fopen(path, "r");
    ck_assert_ptr_nonnull(status);
    while (fgets(line, LINE_SIZE, status) && strncmp(line, "SigBlk:", 7))
        ;
    fclose(status);
    return line;
}

/* A signal for the program must reach the main thread: otherwise its wait is not interrupted. */
START_TEST(signals_are_left_to_the_other_threads)
{
    struct helper helper = {0};
    char line[LINE_SIZE];
    char before[LINE_SIZE];
    strcpy(before, blocked_signals(gettid(), line));
    struct helper_threads found = watch_while_starting(&helper, 1);
    unsigned long long blocked = 0;
    ck_assert_int_eq(sscanf(blocked_signals(helper.id, line), "SigBlk: %llx", &blocked), 1);
    ck_assert(blocked >> (SIGINT - 1) & blocked >> (SIGTERM - 1) & blocked >> (SIGHUP - 1) & 1);
    ck_assert_str_eq(blocked_signals(gettid(), line), before);
    helper_threads_release(&found);
    end(&helper);
}
END_TEST

START_TEST(cpu_time_stays_counted_when_the_threads_end)
{
    struct helper helper = {.computes = true};
    const int64_t before_ns = thread_role_cpu_ns(ROLE_DECODE);
    struct helper_threads found = watch_while_starting(&helper, 1);
    ck_assert_int_ge(helper_threads_cpu_ns(&found), COMPUTES_MS * NS_PER_MS);
    ck_assert_int_ge(thread_role_cpu_ns(ROLE_DECODE) - before_ns, COMPUTES_MS * NS_PER_MS);
    helper_threads_release(&found);
    ck_assert_int_eq(helper_threads_cpu_ns(&found), 0);
    end(&helper);
    ck_assert_int_ge(thread_role_cpu_ns(ROLE_DECODE) - before_ns, COMPUTES_MS * NS_PER_MS);
    ck_assert_int_eq(thread_role_cpu_ns(ROLE_FEED), 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        threads_started_meanwhile_get_the_role_and_no_others,
        nameless_threads_are_named,
        signals_are_left_to_the_other_threads,
        cpu_time_stays_counted_when_the_threads_end,
        NULL,
    };
    return suite_run("helper_threads", SUITE_TIMEOUT_DEFAULT, tests);
}
