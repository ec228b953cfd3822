/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who may become a member of the dispatcher of DWCS, and that all get everything back when it ends for any reason. Needs the right
 * to real-time priorities, and is skipped without it. Not covered: what a process had in each case (test_member_before.c).
 */
#include "dwcs_hogs.h"

#include "thread_list.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

enum { TRIES = 30000 }; /* of 1 ms */

static void expect_given_back(const cpu_set_t *cpus)
{
    cpu_set_t now;
    for (int i = 0; i < HOGS; i++) {
        for (int tries = 0; tries < TRIES && policy_of(hog[i]) != SCHED_OTHER; tries++)
            usleep(1000);
        ck_assert_int_eq(policy_of(hog[i]), SCHED_OTHER);
        for (int tries = 0; tries < TRIES; tries++) {
            sched_getaffinity(hog[i], sizeof now, &now);
            if (CPU_EQUAL(&now, cpus))
                break;
            usleep(1000);
        }
        ck_assert(CPU_EQUAL(&now, cpus));
    }
}

START_TEST(everything_is_given_back_at_the_end)
{
    cpu_set_t cpus, now;
    sched_getaffinity(0, sizeof cpus, &cpus);
    start_hogs();
    struct dwcs_dispatch *dispatch = create(0);
    ck_assert_int_eq(policy_of(0), SCHED_FIFO);
    for (int i = 0; i < HOGS; i++)
        add(dispatch, i, 2, 0, 1, i == 0, -1);
    run_slots(dispatch, 3);
    if (dwcs_member_can_be_last())
        ck_assert(policy_of(hog[2]) == SCHED_IDLE || policy_of(hog[2]) == SCHED_FIFO);
    dwcs_dispatch_destroy(&dispatch);
    ck_assert_ptr_null(dispatch);
    dwcs_dispatch_destroy(&dispatch);
    expect_given_back(&cpus);
    ck_assert_int_eq(policy_of(0), SCHED_OTHER);
    sched_getaffinity(0, sizeof now, &now);
    ck_assert(CPU_EQUAL(&now, &cpus));
    end_hogs();
}
END_TEST

/* Starts a dispatcher of its own for all hogs, and waits until one was chosen. */
static pid_t start_dispatcher(void)
{
    bool was_first = false;
    const pid_t dispatcher = fork();
    if (dispatcher == 0) {
        struct dwcs_dispatch *const dispatch = create(0);
        for (int i = 0; i < HOGS; i++)
            add(dispatch, i, 3, 0, 1, i == 0, -1);
        run_slots(dispatch, INT64_MAX);
    }
    for (int tries = 0; tries < TRIES && !was_first; tries++) {
        usleep(1000);
        for (int i = 0; i < HOGS; i++)
            was_first |= policy_of(hog[i]) == SCHED_FIFO;
    }
    ck_assert(was_first);
    return dispatcher;
}

START_TEST(everything_is_given_back_when_the_dispatcher_is_killed)
{
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof cpus, &cpus);
    for (int round = 0; round < 5; round++) {
        start_hogs();
        const pid_t killed = start_dispatcher();
        kill(killed, SIGKILL);
        waitpid(killed, NULL, 0);
        expect_given_back(&cpus);
        end_hogs();
    }
}
END_TEST

static void kill_guard(void)
{
    pid_t family[16];
    char name[THREAD_NAME_SIZE];
    bool is_killed = false;
    for (int tries = 0; tries < TRIES && !is_killed; tries++) { /* until it has its name */
        const int count = thread_list_family(getpid(), family, 16);
        for (int i = 1; i < count; i++)
            if (!strcmp(thread_list_name(family[i], family[i], name), "dlex-dwcs-guard"))
                is_killed = !kill(family[i], SIGKILL);
        usleep(1000);
    }
    ck_assert(is_killed);
}

/* Schedules all hogs for a while, and kills the guard. */
static struct dwcs_dispatch *lose_guard(cpu_set_t *cpus)
{
    sched_getaffinity(0, sizeof *cpus, cpus);
    start_hogs();
    struct dwcs_dispatch *const dispatch = create(0);
    for (int i = 0; i < HOGS; i++)
        add(dispatch, i, 2, 0, 1, i == 0, -1);
    run_slots(dispatch, 3);
    kill_guard();
    return dispatch;
}

START_TEST(everything_is_given_back_without_the_guard)
{
    cpu_set_t cpus;
    struct dwcs_dispatch *dispatch = lose_guard(&cpus);
    dwcs_dispatch_destroy(&dispatch);
    expect_given_back(&cpus);
    end_hogs();
}
END_TEST

START_TEST(dispatcher_ends_when_the_guard_is_killed)
{
    cpu_set_t cpus;
    int living = HOGS;
    struct dwcs_dispatch *dispatch = lose_guard(&cpus);
    for (int step = 0; step < 100 && living >= 0; step++)
        living = dwcs_dispatch_step(dispatch, -1);
    ck_assert_int_eq(living, -EOWNERDEAD);
    dwcs_dispatch_destroy(&dispatch);
    expect_given_back(&cpus);
    end_hogs();
}
END_TEST

/* The dispatcher does not see it, because it is stopped before. */
static void kill_both(pid_t dispatcher)
{
    kill(dispatcher, SIGSTOP);
    waitpid(dispatcher, NULL, WUNTRACED);
    kill_guard();
    kill(dispatcher, SIGKILL);
    waitpid(dispatcher, NULL, 0);
    for (int tries = 0; tries < TRIES && !undo_journals_left(); tries++) /* until the guard has ended */
        usleep(1000);
}

START_TEST(everything_is_repaired_when_dispatcher_and_guard_are_killed)
{
    cpu_set_t cpus, now;
    int journals, left = 0;
    sched_getaffinity(0, sizeof cpus, &cpus);
    dwcs_guard_repair(&journals); /* of tests that were killed earlier */
    undo_journals_repair(&journals);
    ck_assert_int_eq(undo_journals_left(), 0);
    start_hogs();
    usleep(20000); /* a thread's start is known to 10 ms; one that begins after the join is given back without being recorded */
    const pid_t dispatcher = start_dispatcher();
    ck_assert_int_eq(dwcs_guard_repair(&journals), 0); /* nothing is taken from one that runs */
    ck_assert_int_eq(journals, 0);
    kill_both(dispatcher);
    for (int i = 0; i < HOGS; i++)
        left += policy_of(hog[i]) != SCHED_OTHER;
    ck_assert_int_gt(left, 0);
    sched_getaffinity(hog[0], sizeof now, &now);
    ck_assert_int_eq(CPU_COUNT(&now), 1);
    ck_assert_int_eq(undo_journals_left(), 1);
    ck_assert_int_eq(dwcs_guard_repair(&journals), CPU_COUNT(&cpus) > 1 ? HOGS : left);
    ck_assert_int_eq(journals, 1);
    expect_given_back(&cpus);
    ck_assert_int_eq(dwcs_guard_repair(&journals), 0);
    ck_assert_int_eq(journals, 0);
    end_hogs();
}
END_TEST

/* What it has could not be given back. */
START_TEST(real_time_process_is_refused)
{
    const struct sched_param five = {.sched_priority = 5};
    const struct dispatch_plan plan = {.is_best_effort = true};
    start_hogs();
    ck_assert_int_eq(sched_setscheduler(hog[0], SCHED_RR, &five), 0);
    struct dwcs_dispatch *dispatch = create(0);
    ck_assert_int_eq(dwcs_dispatch_add(dispatch, hog[0], &plan), -EBUSY);
    dwcs_dispatch_destroy(&dispatch);
    ck_assert_int_eq(policy_of(hog[0]), SCHED_RR);
    end_hogs();
}
END_TEST

/* Two members would take its policy from each other. */
START_TEST(process_is_one_member)
{
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof cpus, &cpus);
    const struct dispatch_plan plan = {.is_best_effort = true};
    start_hogs();
    struct dwcs_dispatch *dispatch = create(0);
    ck_assert_int_eq(dwcs_dispatch_add(dispatch, hog[0], &plan), 0);
    ck_assert_int_eq(dwcs_dispatch_add(dispatch, hog[0], &plan), -EEXIST);
    dwcs_dispatch_destroy(&dispatch);
    expect_given_back(&cpus);
    end_hogs();
}
END_TEST

/* It changes later what only a member gets. That is its own. */
START_TEST(refused_process_is_not_given_back)
{
    const struct dispatch_plan no_service = {.params = {.period_ns = MS, .service_ns = 0}};
    const struct dispatch_plan no_socket = {.is_best_effort = true, .events = EVENTS_OF_SOCKET, .event_file = 999};
    const struct sched_param none = {0};
    cpu_set_t only, now;
    CPU_ZERO(&only);
    CPU_SET(first_cpu(), &only);
    start_hogs();
    struct dwcs_dispatch *dispatch = create(0);
    ck_assert_int_eq(dwcs_dispatch_add(dispatch, hog[0], &no_service), -EINVAL);
    ck_assert_int_lt(dwcs_dispatch_add(dispatch, hog[0], &no_socket), 0);
    ck_assert_int_eq(sched_setaffinity(hog[0], sizeof only, &only), 0);
    ck_assert_int_eq(sched_setscheduler(hog[0], SCHED_IDLE, &none), 0);
    dwcs_dispatch_destroy(&dispatch);
    ck_assert_int_eq(policy_of(hog[0]), SCHED_IDLE);
    sched_getaffinity(hog[0], sizeof now, &now);
    ck_assert(CPU_EQUAL(&now, &only));
    end_hogs();
}
END_TEST

START_TEST(wrong_options_are_refused)
{
    static const struct dispatch_options wrong[] = {
        {.slot_ns = 0, .priority = PRIORITY}, {.slot_ns = MS, .priority = 1}, {.slot_ns = MS, .priority = 99},
        {.slot_ns = MS, .priority = PRIORITY, .cpu = -1},
    };
    struct dwcs_dispatch *dispatch;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ck_assert_int_eq(dwcs_dispatch_create(&dispatch, &wrong[i]), -EINVAL);
    start_hogs();
    dispatch = create(0);
    const struct dispatch_plan no_service = {.params = {.period_ns = MS, .service_ns = 0}};
    ck_assert_int_eq(dwcs_dispatch_add(dispatch, hog[0], &no_service), -EINVAL);
    ck_assert_int_eq(policy_of(hog[0]), SCHED_OTHER);
    dwcs_dispatch_destroy(&dispatch);
    end_hogs();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        everything_is_given_back_at_the_end,
        everything_is_given_back_when_the_dispatcher_is_killed,
        everything_is_given_back_without_the_guard,
        dispatcher_ends_when_the_guard_is_killed,
        everything_is_repaired_when_dispatcher_and_guard_are_killed,
        real_time_process_is_refused,
        process_is_one_member,
        refused_process_is_not_given_back,
        wrong_options_are_refused,
        NULL,
    };
    return has_right() ? suite_run("dwcs_ends", 240, tests) : skip();
}
