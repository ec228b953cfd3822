/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Priorities of the table's processes and of the manager. Needs the right to a real-time priority, and is skipped without it; then
 * it checks that a priority that is refused changes nothing.
 */
#include "pman_members.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "suite.h"

enum { EXIT_SKIPPED = 77 };

static const struct pman_timing each = {.period = 1};

static void expect_policy(pid_t pid, int policy, int priority)
{
    struct sched_param parameters;
    ck_assert_int_eq(sched_getscheduler(pid) & ~SCHED_RESET_ON_FORK, policy);
    ck_assert_int_eq(sched_getparam(pid, &parameters), 0);
    ck_assert_int_eq(parameters.sched_priority, priority);
}

START_TEST(priority_comes_with_the_pid_and_goes_with_it)
{
    struct pman *pman;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    ck_assert_int_eq(pman_procadd(pman, "a", &each, 7, NULL), 0);
    const pid_t a = members_start("a", 0);
    EXPECT_SOON(members_is_idle(pman, "a"));
    expect_policy(a, SCHED_FIFO, 7);
    ck_assert_int_eq(pman_qosupd(pman, "a", 9), 0);
    expect_policy(a, SCHED_FIFO, 9);
    ck_assert_int_eq(pman_qosupd(pman, "a", 0), 0);
    expect_policy(a, SCHED_OTHER, 0);
    ck_assert_int_eq(pman_qosupd(pman, "a", 3), 0);
    ck_assert_int_eq(pman_attach(pman, "a", getpid(), PMAN_BY_FUTEX), -EBUSY);
    kill(a, SIGSTOP); /* else it ends before its policy is looked at */
    ck_assert_int_eq(pman_detach(pman, "a"), 0);
    expect_policy(a, SCHED_OTHER, 0);
    kill(a, SIGCONT);
    ck_assert_int_eq(members_end(a), ESRCH);
    pman_close(&pman);
}
END_TEST

START_TEST(closed_table_gives_all_priorities_back)
{
    struct pman *pman;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    ck_assert_int_eq(pman_procadd(pman, "a", &each, 7, NULL), 0);
    ck_assert_int_eq(pman_attach(pman, "a", getpid(), PMAN_BY_FUTEX), 0);
    expect_policy(getpid(), SCHED_FIFO, 7);
    pman_close(&pman);
    expect_policy(getpid(), SCHED_OTHER, 0);
}
END_TEST

START_TEST(process_with_two_names_has_the_higher_priority)
{
    struct pman *pman;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    const char *const names[] = {"a", "b", "c"};
    const int priorities[] = {7, 7, 9};
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(pman_procadd(pman, names[i], &each, priorities[i], NULL), 0);
        ck_assert_int_eq(pman_attach(pman, names[i], getpid(), PMAN_BY_FUTEX), 0);
        expect_policy(getpid(), SCHED_FIFO, priorities[i]);
    }
    ck_assert_int_eq(pman_qosupd(pman, "a", 5), 0);
    expect_policy(getpid(), SCHED_FIFO, 9);
    ck_assert_int_eq(pman_qosupd(pman, "a", 7), 0);
    ck_assert_int_eq(pman_detach(pman, "c"), 0);
    expect_policy(getpid(), SCHED_FIFO, 7);
    ck_assert_int_eq(pman_detach(pman, "a"), 0);
    expect_policy(getpid(), SCHED_FIFO, 7);
    ck_assert_int_eq(pman_qosupd(pman, "b", 0), 0);
    expect_policy(getpid(), SCHED_OTHER, 0);
    ck_assert_int_eq(pman_qosupd(pman, "b", 7), 0);
    ck_assert_int_eq(pman_procdel(pman, "b"), 0);
    expect_policy(getpid(), SCHED_OTHER, 0);
    pman_close(&pman);
}
END_TEST

START_TEST(process_without_priority_keeps_its_policy)
{
    struct pman *pman;
    const struct sched_param parameters = {.sched_priority = 5};
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    ck_assert_int_eq(sched_setscheduler(0, SCHED_RR, &parameters), 0);
    ck_assert_int_eq(pman_attach(pman, "a", getpid(), PMAN_BY_FUTEX), 0);
    expect_policy(getpid(), SCHED_RR, 5);
    ck_assert_int_eq(pman_detach(pman, "a"), 0);
    expect_policy(getpid(), SCHED_RR, 5);
    pman_close(&pman);
}
END_TEST

/* The manager precedes all processes, and all run. */
START_TEST(manager_with_a_priority_manages)
{
    struct pman *pman;
    struct pman_manager *manager;
    const struct pman_manager_options options = {.tick_ns = 5 * MS, .priority = 60};
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    ck_assert_int_eq(pman_procadd(pman, "low", &each, 10, NULL), 0);
    ck_assert_int_eq(pman_procadd(pman, "high", &each, 20, NULL), 0);
    const pid_t low = members_start("low", 0), high = members_start("high", 0);
    EXPECT_SOON(members_is_idle(pman, "low") && members_is_idle(pman, "high"));
    ck_assert_int_eq(pman_manager_start(&manager, pman, &options), 0);
    EXPECT_SOON(members_query(pman, "low").activations > 20 && members_query(pman, "high").activations > 20);
    pman_manager_stop(&manager);
    expect_policy(getpid(), SCHED_OTHER, 0);
    pman_close(&pman);
    ck_assert_int_eq(members_end(low), ESHUTDOWN);
    ck_assert_int_eq(members_end(high), ESHUTDOWN);
}
END_TEST

START_TEST(refused_priority_changes_nothing)
{
    struct pman *pman;
    struct pman_manager *manager;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    ck_assert_int_eq(pman_procadd(pman, "a", &each, 7, NULL), 0);
    ck_assert_int_eq(pman_attach(pman, "a", getpid(), PMAN_BY_FUTEX), -EPERM);
    ck_assert_int_eq(members_query(pman, "a").status, PMAN_REGISTERED);
    ck_assert_int_eq(pman_qosupd(pman, "a", 0), 0);
    ck_assert_int_eq(pman_attach(pman, "a", getpid(), PMAN_BY_FUTEX), 0);
    ck_assert_int_eq(pman_qosupd(pman, "a", 7), -EPERM);
    ck_assert_int_eq(members_query(pman, "a").priority, 0);
    ck_assert_int_eq(pman_manager_start(&manager, pman, &(struct pman_manager_options){.priority = 60}), -EPERM);
    pman_close(&pman);
}
END_TEST

static bool has_right(void)
{
    const struct sched_param parameters = {.sched_priority = 60};
    if (sched_setscheduler(0, SCHED_FIFO, &parameters))
        return false;
    sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){.sched_priority = 0});
    return true;
}

int main(void)
{
    const TTest *const allowed[] = {
        priority_comes_with_the_pid_and_goes_with_it,
        closed_table_gives_all_priorities_back,
        process_with_two_names_has_the_higher_priority,
        process_without_priority_keeps_its_policy,
        manager_with_a_priority_manages,
        NULL,
    };
    const TTest *const refused[] = {refused_priority_changes_nothing, NULL};
    if (has_right())
        return suite_run("pman_priority", 120, allowed);
    const int failed = suite_run("pman_priority", 120, refused);
    puts("skipped: this account may not have the priority fifo:60; `dlex-sched doctor` says what would allow it");
    return failed ? failed : EXIT_SKIPPED;
}
