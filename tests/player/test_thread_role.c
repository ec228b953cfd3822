/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The roles of threads and their CPU times. Not covered: where placement puts them (test_placement.py). */
#include "thread_role.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <unistd.h>

#include "ns.h"
#include "suite.h"

/* A thread that takes roles, computes if it is told to, says that it has begun, and waits until it may end. */
struct worker {
    pthread_t thread;
    unsigned roles;
    bool computes;
    sem_t begun, may_end;
    pid_t id;
    int taken;
};

static void compute_ms(int ms)
{
    struct timespec used;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    while (ns_from_timespec(used) < ms * NS_PER_MS);
}

static void *work(void *arg)
{
    struct worker *const worker = arg;
    worker->id = gettid();
    worker->taken = thread_role_take(worker->roles);
    if (worker->computes)
        compute_ms(20);
    sem_post(&worker->begun);
    sem_wait(&worker->may_end);
    thread_role_take(0);
    return NULL;
}

static void start(struct worker *worker)
{
    sem_init(&worker->begun, 0, 0);
    sem_init(&worker->may_end, 0, 0);
    ck_assert_int_eq(pthread_create(&worker->thread, NULL, work, worker), 0);
    sem_wait(&worker->begun);
}

static void end(struct worker *worker)
{
    sem_post(&worker->may_end);
    pthread_join(worker->thread, NULL);
}

START_TEST(thread_has_the_roles_that_it_took_last)
{
    ck_assert_uint_eq(thread_role_of(gettid()), 0);
    thread_role_take(ROLE_DECODE | ROLE_PRESENT);
    ck_assert_uint_eq(thread_role_of(gettid()), ROLE_DECODE | ROLE_PRESENT);
    thread_role_take(ROLE_PRESENT);
    ck_assert_uint_eq(thread_role_of(gettid()), ROLE_PRESENT);
    thread_role_take(0);
    ck_assert_uint_eq(thread_role_of(gettid()), 0);
}
END_TEST

START_TEST(thread_that_has_ended_has_no_role)
{
    struct worker feeder = {.roles = ROLE_FEED};
    start(&feeder);
    ck_assert_uint_eq(thread_role_of(feeder.id), ROLE_FEED);
    end(&feeder);
    ck_assert_uint_eq(thread_role_of(feeder.id), 0);
}
END_TEST

START_TEST(cpu_time_is_that_of_the_threads_with_one_of_the_roles)
{
    struct worker decoder = {.roles = ROLE_DECODE, .computes = true};
    struct worker presenter = {.roles = ROLE_PRESENT};
    struct worker helper = {.computes = true};
    start(&decoder);
    start(&presenter);
    start(&helper);
    const int64_t decoding_ns = thread_role_cpu_ns(ROLE_DECODE);
    const int64_t presenting_ns = thread_role_cpu_ns(ROLE_PRESENT);
    const int64_t both_ns = thread_role_cpu_ns(ROLE_DECODE | ROLE_PRESENT);
    const int64_t feeding_ns = thread_role_cpu_ns(ROLE_FEED);
    end(&decoder);
    end(&presenter);
    end(&helper);
    ck_assert_int_ge(decoding_ns, 20 * NS_PER_MS);
    ck_assert_int_lt(presenting_ns, 20 * NS_PER_MS);
    ck_assert_int_ge(both_ns, decoding_ns + presenting_ns);
    ck_assert_int_lt(both_ns, decoding_ns + 20 * NS_PER_MS);
    ck_assert_int_eq(feeding_ns, 0);
}
END_TEST

START_TEST(one_thread_too_many_gets_no_role_until_another_gives_up_its_own)
{
    struct worker workers[THREAD_ROLES_MAX];
    for (int i = 0; i < THREAD_ROLES_MAX; i++) {
        workers[i] = (struct worker){.roles = ROLE_DECODE};
        start(&workers[i]);
        ck_assert_int_eq(workers[i].taken, 0);
    }
    ck_assert_int_eq(thread_role_take(ROLE_PRESENT), -EAGAIN);
    ck_assert_uint_eq(thread_role_of(gettid()), 0);
    end(&workers[0]);
    ck_assert_int_eq(thread_role_take(ROLE_PRESENT), 0);
    thread_role_take(0);
    for (int i = 1; i < THREAD_ROLES_MAX; i++)
        end(&workers[i]);
}
END_TEST

START_TEST(another_thread_is_given_its_role)
{
    struct worker helper = {.computes = true};
    start(&helper);
    ck_assert_int_eq(thread_role_give(helper.id, ROLE_DECODE), 0);
    ck_assert_uint_eq(thread_role_of(helper.id), ROLE_DECODE);
    ck_assert_int_ge(thread_role_cpu_ns(ROLE_DECODE), 20 * NS_PER_MS);
    ck_assert_int_eq(thread_role_give(helper.id, 0), 0);
    ck_assert_uint_eq(thread_role_of(helper.id), 0);
    ck_assert_int_ge(thread_role_cpu_ns(ROLE_DECODE), 20 * NS_PER_MS); /* what it used in that role stays */
    ck_assert_int_lt(thread_role_cpu_ns(ROLE_PRESENT), 20 * NS_PER_MS);
    end(&helper);
}
END_TEST

START_TEST(roles_are_written_with_commas)
{
    char text[THREAD_ROLES_TEXT_SIZE];
    ck_assert_str_eq(thread_role_text(0, text), "");
    ck_assert_str_eq(thread_role_text(ROLE_FEED, text), "feed");
    ck_assert_str_eq(thread_role_text(ROLE_DECODE | ROLE_PRESENT | ROLE_FEED, text), "decode, present, feed");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        thread_has_the_roles_that_it_took_last,
        thread_that_has_ended_has_no_role,
        cpu_time_is_that_of_the_threads_with_one_of_the_roles,
        one_thread_too_many_gets_no_role_until_another_gives_up_its_own,
        another_thread_is_given_its_role,
        roles_are_written_with_commas,
        NULL,
    };
    return suite_run("thread_role", SUITE_TIMEOUT_DEFAULT, tests);
}
