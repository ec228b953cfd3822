/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waiting for packets' turns, on the real clock. Not covered: how late a thread wakes up, which depends on its priority. */
#include "lbap.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

#include "ns.h"
#include "suite.h"

static const struct lbap_workload workload_200_hz = {.size_max_bytes = 10, .period_ns = 5 * NS_PER_MS, .workahead_max = 1};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ns_from_timespec(now);
}

static void count_event(void *context, int64_t laxity_ns)
{
    (void)laxity_ns;
    ++*(int *)context;
}

START_TEST(packets_are_processed_at_the_declared_rate)
{
    struct lbap lbap;
    int events = 0;
    int64_t before_ns = INT64_MIN;
    ck_assert_int_eq(lbap_init(&lbap, &workload_200_hz), 0);
    lbap.event = count_event;
    lbap.context = &events;
    for (int packet = 0; packet < 20; packet++) {
        struct lbap_verdict verdict;
        ck_assert_int_eq(lbap_enforce(&lbap, 10, &verdict), 0);
        ck_assert_int_ge(now_ns(), verdict.logical_arrival_ns);
        if (packet)
            ck_assert_int_ge(verdict.logical_arrival_ns - before_ns, workload_200_hz.period_ns);
        ck_assert_int_eq(verdict.deadline_ns - verdict.logical_arrival_ns, workload_200_hz.period_ns);
        before_ns = verdict.logical_arrival_ns;
    }
    ck_assert_int_eq(events, 19);
    ck_assert_int_eq(lbap.laxities.count, 19);
    ck_assert_int_le(lbap.laxities.most_ns, workload_200_hz.period_ns);
}
END_TEST

START_TEST(late_program_has_negative_laxity)
{
    struct lbap lbap;
    ck_assert_int_eq(lbap_init(&lbap, &workload_200_hz), 0);
    ck_assert_int_eq(lbap_enforce(&lbap, 10, NULL), 0);
    const struct timespec work = {.tv_nsec = 7 * NS_PER_MS};
    nanosleep(&work, NULL);
    lbap_poll(&lbap, 10);
    ck_assert_int_eq(lbap.laxities.violations, 1);
    ck_assert_int_le(lbap.laxities.least_ns, -2 * NS_PER_MS);
}
END_TEST

START_TEST(poll_neither_waits_nor_accepts)
{
    struct lbap lbap;
    ck_assert_int_eq(lbap_init(&lbap, &workload_200_hz), 0);
    const struct lbap_verdict first = lbap_poll(&lbap, 10);
    lbap_accept(&lbap, &first);
    const struct lbap_verdict second = lbap_poll(&lbap, 10), again = lbap_poll(&lbap, 10);
    ck_assert_int_ge(second.logical_arrival_ns, first.logical_arrival_ns + workload_200_hz.period_ns);
    if (now_ns() < second.logical_arrival_ns)
        ck_assert_int_eq(again.logical_arrival_ns, second.logical_arrival_ns);
}
END_TEST

START_TEST(laxity_of_a_packet_is_reported_once)
{
    struct lbap lbap;
    int events = 0;
    ck_assert_int_eq(lbap_init(&lbap, &workload_200_hz), 0);
    lbap.event = count_event;
    lbap.context = &events;
    for (int packet = 0; packet < 3; packet++) {
        lbap_poll(&lbap, 10); /* before the wait */
        ck_assert_int_eq(lbap_enforce(&lbap, 10, NULL), 0);
        ck_assert_int_eq(events, packet);
        ck_assert_int_eq(lbap.laxities.count, packet);
    }
}
END_TEST

START_TEST(violation_is_reported_and_accepted)
{
    struct lbap lbap;
    ck_assert_int_eq(lbap_init(&lbap, &workload_200_hz), 0);
    ck_assert_int_eq(lbap_enforce(&lbap, 11, NULL), 1);
    ck_assert(lbap.process.has_packet);
}
END_TEST

static void ignore(int number)
{
    (void)number;
}

static int is_over; /* atomic */

/* Again and again: one of the signals comes while the other thread waits. */
static void *interrupt(void *thread)
{
    const struct timespec pause = {.tv_nsec = 20 * NS_PER_MS};
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
        nanosleep(&pause, NULL);
        pthread_kill(*(pthread_t *)thread, SIGUSR1);
    }
    return NULL;
}

START_TEST(signal_ends_the_wait_and_nothing_is_accepted)
{
    const struct lbap_workload slow = {.period_ns = 10 * NS_PER_S, .workahead_max = 1};
    const struct sigaction action = {.sa_handler = ignore};
    struct lbap lbap;
    pthread_t thread, self = pthread_self();
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    ck_assert_int_eq(lbap_init(&lbap, &slow), 0);
    ck_assert_int_eq(lbap_enforce(&lbap, 0, NULL), 0);
    const int64_t accepted_ns = lbap.process.logical_arrival_ns;
    ck_assert_int_eq(pthread_create(&thread, NULL, interrupt, &self), 0);
    const int error = lbap_enforce(&lbap, 0, NULL);
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    ck_assert_int_eq(error, -EINTR);
    ck_assert_int_eq(lbap.process.logical_arrival_ns, accepted_ns);
    lbap_poll(&lbap, 0); /* the program tries again, later */
    ck_assert_int_eq(lbap.laxities.count, 1);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        packets_are_processed_at_the_declared_rate, late_program_has_negative_laxity, poll_neither_waits_nor_accepts,
        laxity_of_a_packet_is_reported_once, violation_is_reported_and_accepted, signal_ends_the_wait_and_nothing_is_accepted, NULL,
    };
    return suite_run("lbap", 30, tests);
}
