/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the library refuses: arguments that are not possible. Not covered: priorities that are not allowed (test_pman_priority.c). */
#include "pman_members.h"

#include "pman_shared.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "suite.h"

static const struct pman_timing each = {.period = 1};
static const struct pman_options usual;

START_TEST(impossible_tables_are_refused)
{
    static const char *const names[] = {"", "a b", "../a", "a.b", "12345678901234567890123456789012", NULL};
    const struct pman_options wrong = {.capacity = PMAN_CAPACITY + 1};
    struct pman *pman;
    for (int i = 0; i < 6; i++) {
        ck_assert_int_eq(pman_init(&pman, names[i], &usual), -EINVAL);
        ck_assert_int_eq(pman_open(&pman, names[i]), -EINVAL);
    }
    const struct pman_options unknown = {.deadlines = (enum pman_deadlines)2};
    ck_assert_int_eq(pman_init(&pman, "test-wrong", &wrong), -EINVAL);
    ck_assert_int_eq(pman_init(&pman, "test-wrong", &unknown), -EINVAL);
    ck_assert_int_eq(pman_open(&pman, "test-wrong"), -ENOENT);
}
END_TEST

START_TEST(wrong_arguments_are_refused)
{
    const struct pman_timing wrong = {.period = -1};
    struct pman *pman;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    ck_assert_int_eq(pman_procadd(pman, "a", &each, 0, NULL), -EEXIST);
    ck_assert_int_eq(pman_procadd(pman, "b", &wrong, 0, NULL), -EINVAL);
    ck_assert_int_eq(pman_procadd(pman, "b", &each, 100, NULL), -ERANGE);
    ck_assert_int_eq(pman_attach(pman, "a", 0, PMAN_BY_FUTEX), -EINVAL);
    ck_assert_int_eq(pman_attach(pman, "a", getpid(), (enum pman_activation)3), -EINVAL);
    ck_assert_int_eq(pman_attach(pman, "b", getpid(), PMAN_BY_FUTEX), -ENOENT);
    ck_assert_int_eq(pman_detach(pman, "a"), -ESRCH);
    ck_assert_int_eq(pman_prec_add(pman, "a", "a"), -ELOOP);
    ck_assert_int_eq(pman_prec_rem(pman, "a", "a"), -ENOENT);
    ck_assert_int_eq(pman_qosupd(pman, "a", -1), -ERANGE);
    ck_assert_int_eq(pman_tpupd(pman, "a", 0, &each), -EINVAL);
    ck_assert_int_eq(pman_tpupd(pman, "a", PMAN_PERIOD, &wrong), -EINVAL);
    ck_assert_int_eq(pman_tick(pman, pman_now_ns() + 1000000 * MS), -EINVAL);
    ck_assert_int_eq(pman_tick(pman, 0), 0);
    ck_assert_int_eq(pman_tick(pman, 1), -EINVAL);
    pman_close(&pman);
}
END_TEST

/* They would break the formats in which dlex-sched-pman prints a table that another program has made. */
START_TEST(names_with_other_characters_are_refused)
{
    static const char *const names[] = {"", "a b", "a,b", "a\"b", "a\nb", "\x80", "12345678901234567890123456789012"};
    struct pman *pman;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    for (int i = 0; i < 7; i++) {
        ck_assert_int_eq(pman_procadd(pman, names[i], &each, 0, NULL), -EINVAL);
        ck_assert_int_eq(pman_procadd(pman, "a", &each, 0, names[i]), -EINVAL);
    }
    ck_assert_int_eq(pman_procadd(pman, "Color_Class-1", &each, 0, "1234567890123456789012345678901"), 0);
    pman_close(&pman);
}
END_TEST

START_TEST(null_is_refused)
{
    struct pman *pman;
    struct pman_manager *manager;
    ck_assert_int_eq(pman_init(&pman, "test-null", NULL), -EINVAL);
    ck_assert_int_eq(pman_init(&pman, NULL, &usual), -EINVAL);
    ck_assert_int_eq(pman_open(&pman, "test-null"), -ENOENT);
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    ck_assert_int_eq(pman_procadd(pman, "b", NULL, 0, NULL), -EINVAL);
    ck_assert_int_eq(pman_procadd(pman, NULL, &each, 0, NULL), -EINVAL);
    ck_assert_int_eq(pman_tpupd(pman, "a", PMAN_PERIOD, NULL), -EINVAL);
    ck_assert_int_eq(pman_query(pman, "a", NULL), -EINVAL);
    ck_assert_int_eq(pman_manager_start(&manager, pman, NULL), -EINVAL);
    ck_assert_int_eq(pman_attach(pman, NULL, getpid(), PMAN_BY_FUTEX), -ENOENT);
    ck_assert_int_eq(pman_prec_add(pman, "a", NULL), -ENOENT);
    ck_assert_int_eq(pman_wait(pman, NULL), -ENOENT);
    ck_assert_int_eq(members_query(pman, "a").status, PMAN_REGISTERED);
    pman_close(&pman);
}
END_TEST

static void *sleep_for_ever(void *id)
{
    __atomic_store_n((pid_t *)id, gettid(), __ATOMIC_RELEASE);
    for (;;)
        pause();
    return NULL;
}

/* Its end would not be noticed. */
START_TEST(id_of_a_thread_is_refused)
{
    static pid_t id;
    struct pman *pman;
    pthread_t thread;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    ck_assert_int_eq(pthread_create(&thread, NULL, sleep_for_ever, &id), 0);
    EXPECT_SOON(__atomic_load_n(&id, __ATOMIC_ACQUIRE));
    ck_assert_int_eq(pman_attach(pman, "a", id, PMAN_BY_CONT), -EINVAL);
    ck_assert_int_eq(members_query(pman, "a").status, PMAN_REGISTERED);
    pman_close(&pman);
}
END_TEST

/* Returns 0 if a process of another user is refused, which could not be activated. Root becomes another user for that. */
static int attach_foreign_process(void)
{
    enum { NOBODY = 65534 };
    char name[PMAN_NAME_SIZE];
    struct pman *pman;
    const pid_t foreign = geteuid() ? 1 : getppid();
    if (!geteuid() && setresuid(NOBODY, NOBODY, NOBODY))
        return 1;
    snprintf(name, sizeof name, "test-%d", (int)getpid());
    if (pman_init(&pman, name, &usual) || pman_procadd(pman, "a", &each, 0, NULL))
        return 2;
    const int error = pman_attach(pman, "a", foreign, PMAN_BY_SIGNAL);
    const bool may_signal = !kill(foreign, 0);
    pman_close(&pman);
    return error == -EPERM || may_signal ? 0 : 3;
}

START_TEST(process_that_may_not_be_signalled_is_refused)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(attach_foreign_process());
    ck_assert_int_eq(members_end(child), 0);
}
END_TEST

/* With a tick each ns the manager did nothing else, at its priority. */
START_TEST(ticks_without_an_end_are_refused)
{
    struct pman *pman;
    struct pman_manager *manager;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    const struct pman_manager_options wrong[] = {
        {.tick_ns = 1}, {.tick_ns = PMAN_TICK_MIN - 1}, {.tick_ns = PMAN_TIME_MAX + 1},
    };
    const struct pman_manager_options least = {.tick_ns = PMAN_TICK_MIN};
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pman_manager_start(&manager, pman, &wrong[i]), -EINVAL);
    ck_assert_int_eq(pman_manager_start(&manager, pman, &least), 0);
    EXPECT_SOON(pman_shared_ticks(pman->shared) > 10);
    pman_manager_stop(&manager);
    pman_close(&pman);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        impossible_tables_are_refused,
        wrong_arguments_are_refused,
        names_with_other_characters_are_refused,
        null_is_refused,
        id_of_a_thread_is_refused,
        process_that_may_not_be_signalled_is_refused,
        ticks_without_an_end_are_refused,
        NULL,
    };
    return suite_run("pman_refusals", 120, tests);
}
