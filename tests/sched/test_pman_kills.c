/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs that are killed at any time: as processes of the table, while they work and while they sleep, and as its manager. The
 * table works on each time. Not covered: programs that are killed in the middle of a call (test_pman_call_kills.c); a machine that
 * stops, since shared memory does not survive that.
 *
 * DLEX_TEST_KILLS is the least number of kills of each kind (200), DLEX_TEST_SEED selects when.
 */
#include "pman_members.h"

#include "pman_shared.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "suite.h"

enum { TIMEOUT_S = 300, TRIES = 10, WORK_US = 300 };

static const struct pman_timing each = {.period = 1};
static const struct pman_manager_options each_ms = {.tick_ns = MS};

/* Waits until both have run again. */
static void expect_progress(struct pman *pman)
{
    const int64_t runs_a = members_query(pman, "a").activations, runs_b = members_query(pman, "b").activations;
    EXPECT_SOON(members_query(pman, "a").activations > runs_a + 1 && members_query(pman, "b").activations > runs_b + 1);
}

/* In what the killed processes were, as the log says. */
struct deaths {
    struct pman_log_reader reader;
    bool is_begun; /* the last record is a start, which is recorded together with the end of its instance */
    int working;   /* in an instance that they had begun */
    int released;  /* in one that they had not begun yet */
};

static void count_deaths(struct deaths *deaths, const struct pman_log *log)
{
    struct pman_log_record record;
    while (pman_log_read(&deaths->reader, log, &record)) {
        const bool is_death = record.kind == PMAN_LOG_FINISH && record.value == PMAN_DIED;
        deaths->working += is_death && deaths->is_begun;
        deaths->released += is_death && !deaths->is_begun;
        deaths->is_begun = record.kind == PMAN_LOG_START;
    }
}

/* Kills one of the two at any time, while the other one goes on, and starts it again. */
static void kill_one(struct pman *pman, pid_t pids[2])
{
    static const char *const names[] = {"a", "b"};
    const long which = members_random(2);
    usleep((useconds_t)members_random(2000));
    kill(pids[which], SIGKILL);
    ck_assert_int_eq(members_end(pids[which]), 1000 + SIGKILL);
    if (members_random(2)) /* else the next one comes before anybody has noticed */
        EXPECT_SOON(members_query(pman, names[which]).status == PMAN_DIED);
    const int64_t runs = members_query(pman, names[!which]).activations;
    EXPECT_SOON(members_query(pman, names[!which]).activations > runs);
    pids[which] = members_start(names[which], WORK_US);
}

START_TEST(processes_are_killed)
{
    struct pman *pman;
    struct pman_manager *manager;
    struct deaths deaths = {0};
    const int enough = members_kills() / 4; /* of those that work, and of those that do not */
    int kills = 0;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    members_add(pman, "b", (struct pman_timing){.period = 1, .delay_ns = MS / 4}, NULL);
    ck_assert_int_eq(pman_prec_add(pman, "b", "a"), 0);
    ck_assert_int_eq(pman_manager_start(&manager, pman, &each_ms), 0);
    pid_t pids[] = {members_start("a", WORK_US), members_start("b", WORK_US)};
    expect_progress(pman);
    while (kills < members_kills() || deaths.working < enough || kills - deaths.working < enough) {
        ck_assert_int_lt(kills++, TRIES * members_kills());
        kill_one(pman, pids);
        expect_progress(pman); /* so everybody has noticed */
        count_deaths(&deaths, &pman->shared->log);
    }
    printf("%d kills: %d in an instance, %d before they had begun it; %u while the table was locked\n", kills, deaths.working,
           deaths.released, pman->shared->recoveries);
    pman_manager_stop(&manager);
    pman_close(&pman);
    ck_assert_int_eq(members_end(pids[0]), ESHUTDOWN);
    ck_assert_int_eq(members_end(pids[1]), ESHUTDOWN);
}
END_TEST

/* Starts a process that manages the table until it is killed. */
static pid_t start_manager(void)
{
    struct pman *pman;
    struct pman_manager *manager;
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (pman_open(&pman, members_table()) || pman_manager_start(&manager, pman, &each_ms))
            _exit(1);
        for (;;)
            pause();
    }
    return pid;
}

START_TEST(managers_are_killed)
{
    struct pman *pman;
    struct pman_manager *manager;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", (struct pman_timing){.period = 1, .deadline_ns = 1000 * MS}, NULL);
    members_add(pman, "b", (struct pman_timing){.period = 1, .delay_ns = MS / 4}, NULL);
    ck_assert_int_eq(pman_prec_add(pman, "b", "a"), 0);
    const pid_t a = members_start("a", WORK_US), b = members_start("b", WORK_US);
    for (int i = 0; i < members_kills(); i++) {
        const pid_t killed = start_manager();
        expect_progress(pman);
        usleep((useconds_t)members_random(2000));
        kill(killed, SIGKILL);
        ck_assert_int_eq(members_end(killed), 1000 + SIGKILL);
    }
    ck_assert_int_eq(pman_manager_start(&manager, pman, &each_ms), 0);
    expect_progress(pman);
    printf("%d managers were killed, %u while the table was locked\n", members_kills(), pman->shared->recoveries);
    pman_manager_stop(&manager);
    pman_close(&pman);
    ck_assert_int_eq(members_end(a), ESHUTDOWN); /* the same processes all the time */
    ck_assert_int_eq(members_end(b), ESHUTDOWN);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {processes_are_killed, managers_are_killed, NULL};
    return suite_run("pman_kills", TIMEOUT_S, tests);
}
