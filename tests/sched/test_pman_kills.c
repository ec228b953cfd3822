/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs that are killed: in the middle of a call, at any instruction; as processes of the table; as its manager. The table
 * works on each time. Not covered: a machine that stops, since shared memory does not survive that.
 *
 * DLEX_TEST_KILLS is the number of kills of each kind (200), DLEX_TEST_SEED selects where.
 */
#include "pman_members.h"

#include "pman_shared.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

enum { EXIT_SKIPPED = 77, TIMEOUT_S = 300 };

static const struct pman_timing each = {.period = 1};

static long number_from(const char *name, long otherwise)
{
    const char *const text = getenv(name);
    return text ? strtol(text, NULL, 0) : otherwise;
}

static int kills(void)
{
    return (int)number_from("DLEX_TEST_KILLS", 200);
}

static long below(long limit)
{
    static unsigned short state[3];
    static bool is_seeded;
    if (!is_seeded)
        state[0] = (unsigned short)number_from("DLEX_TEST_SEED", 1);
    is_seeded = true;
    return nrand48(state) % limit;
}

enum { CALLS = 10 };

/* What a victim does: all kinds of changes, for two processes a and b of which b comes after a, and a third one. */
static void call(struct pman *pman, int number)
{
    static const struct pman_timing timing = {.period = 1};
    switch (number) {
    case 0: pman_tick(pman, 0); break;
    case 1: pman_epilogue(pman, "a"); break;
    case 2: pman_prec_add(pman, "b", "a"); break;
    case 3: pman_tpupd(pman, "a", PMAN_PERIOD, &timing); break;
    case 4: pman_epilogue(pman, "b"); break;
    case 5: pman_procadd(pman, "c", &timing, 0, NULL); break;
    case 6: pman_attach(pman, "c", getpid(), PMAN_BY_FUTEX); break;
    case 7: pman_tick(pman, 0); break;
    case 8: pman_detach(pman, "c"); break;
    case 9: pman_procdel(pman, "c"); break;
    }
}

/* Calls by their numbers from 0 on. */
typedef void (*calls)(struct pman *pman, int number);

/* Starts a victim, and lets it run until it stops before this call. It stops again after it. */
static pid_t start_victim(calls call_number, int count, int before)
{
    struct pman *pman;
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (pman_open(&pman, members_table()) || ptrace(PTRACE_TRACEME, 0, NULL, NULL))
            _exit(1);
        for (int i = 0; i < count; i++) {
            if (i == before || i == before + 1)
                raise(SIGSTOP);
            call_number(pman, i);
        }
        raise(SIGSTOP);
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    return pid;
}

/* Lets the victim do so many instructions, or all until it stops itself. Returns how many it did. */
static long step(pid_t pid, long instructions)
{
    for (long done = 0; done < instructions; done++) {
        int status;
        ck_assert_int_eq(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFSTOPPED(status));
        if (WSTOPSIG(status) != SIGTRAP)
            return done;
    }
    return instructions;
}

static void end_victim(pid_t pid)
{
    kill(pid, SIGKILL);
    ck_assert_int_eq(members_end(pid), 1000 + SIGKILL);
}

/* Brings the table from any state to one in which nothing runs and only a and b are there. */
static void tidy(struct pman *pman)
{
    pman_procdel(pman, "c");
    pman_epilogue(pman, "a");
    pman_epilogue(pman, "b");
    ck_assert_int_eq(members_query(pman, "a").status, PMAN_IDLE);
    ck_assert_int_eq(members_query(pman, "b").status, PMAN_IDLE);
    pman_prec_add(pman, "b", "a");
}

/* A tick, with a and b in their order. Both are this process. */
static void expect_cycle(struct pman *pman)
{
    const int64_t runs_a = members_query(pman, "a").activations, runs_b = members_query(pman, "b").activations;
    ck_assert_int_eq(pman_tick(pman, 0), 0);
    ck_assert_int_eq(members_query(pman, "b").status, PMAN_BLOCKED);
    ck_assert_int_eq(pman_wait(pman, "a"), 0);
    ck_assert_int_eq(pman_epilogue(pman, "a"), 0);
    ck_assert_int_eq(pman_wait(pman, "b"), 0);
    ck_assert_int_eq(pman_epilogue(pman, "b"), 0);
    ck_assert_int_eq(members_query(pman, "a").activations, runs_a + 1);
    ck_assert_int_eq(members_query(pman, "b").activations, runs_b + 1);
    ck_assert_int_eq(pman_epilogue(pman, "a"), -EALREADY);
}

START_TEST(caller_is_killed_at_any_instruction)
{
    enum { MANY = 10000000 };
    struct pman *pman;
    long instructions[CALLS];
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    members_add(pman, "b", each, NULL);
    ck_assert_int_eq(pman_prec_add(pman, "b", "a"), 0);
    ck_assert_int_eq(pman_attach(pman, "a", getpid(), PMAN_BY_FUTEX), 0);
    ck_assert_int_eq(pman_attach(pman, "b", getpid(), PMAN_BY_FUTEX), 0);
    for (int i = 0; i < CALLS; i++) {
        const pid_t whole = start_victim(call, CALLS, i);
        instructions[i] = step(whole, MANY);
        ck_assert_int_lt(instructions[i], MANY);
        end_victim(whole);
        tidy(pman);
    }
    for (int i = 0; i < kills(); i++) {
        const pid_t victim = start_victim(call, CALLS, i % CALLS);
        step(victim, below(instructions[i % CALLS]));
        end_victim(victim);
        tidy(pman);
        expect_cycle(pman);
    }
    printf("%u of %d kills while the table was locked\n", pman->shared->recoveries, kills());
    ck_assert_int_gt(pman->shared->recoveries, kills() / 10);
    pman_close(&pman);
}
END_TEST

enum { PRIORITY_CALLS = 7 };

/* The process whose priority changes; it sleeps. */
static pid_t target;

/* All ways in which "d" gets and loses a priority. */
static void change_priority(struct pman *pman, int number)
{
    switch (number) {
    case 0: pman_qosupd(pman, "d", 7); break;
    case 1: pman_qosupd(pman, "d", 9); break;
    case 2: pman_qosupd(pman, "d", 0); break;
    case 3: pman_qosupd(pman, "d", 5); break;
    case 4: pman_detach(pman, "d"); break;
    case 5: pman_attach(pman, "d", target, PMAN_BY_FUTEX); break;
    case 6: pman_procdel(pman, "d"); break;
    }
}

/* Of SCHED_FIFO; 0: another policy. */
static int priority_of_target(void)
{
    struct sched_param parameters;
    return sched_getparam(target, &parameters) ? -1 : parameters.sched_priority;
}

/* The first call after the kill has made up for what was left. */
static void expect_priority_of_table(struct pman *pman)
{
    struct pman_statistics d = {0};
    const int error = pman_query(pman, "d", &d);
    ck_assert(!error || error == -ENOENT);
    ck_assert_int_eq(priority_of_target(), d.pid ? d.priority : 0);
}

static pid_t start_priority_victim(struct pman *pman, int before)
{
    pman_procdel(pman, "d");
    members_add(pman, "d", each, NULL);
    ck_assert_int_eq(pman_attach(pman, "d", target, PMAN_BY_FUTEX), 0);
    ck_assert_int_eq(priority_of_target(), 0);
    return start_victim(change_priority, PRIORITY_CALLS, before);
}

START_TEST(caller_is_killed_while_it_changes_a_priority)
{
    struct pman *pman;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    target = fork();
    if (target == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    for (int i = 0; i < 2 * PRIORITY_CALLS; i++) { /* right after the change of the policy, and after that of the table */
        const pid_t victim = start_priority_victim(pman, i / 2);
        const int priority = priority_of_target();
        const uint32_t table = pman->shared->current;
        while ((i % 2 ? table == pman->shared->current : priority == priority_of_target()) && step(victim, 1))
            ;
        end_victim(victim);
        expect_priority_of_table(pman);
    }
    for (int i = 0; i < kills(); i++) {
        const pid_t victim = start_priority_victim(pman, i % PRIORITY_CALLS);
        step(victim, below(5000));
        end_victim(victim);
        expect_priority_of_table(pman);
    }
    pman_close(&pman);
    ck_assert_int_eq(priority_of_target(), 0);
    end_victim(target);
}
END_TEST

/* Waits until both have run again. */
static void expect_progress(struct pman *pman)
{
    const int64_t runs_a = members_query(pman, "a").activations, runs_b = members_query(pman, "b").activations;
    EXPECT_SOON(members_query(pman, "a").activations > runs_a + 1 && members_query(pman, "b").activations > runs_b + 1);
}

START_TEST(processes_are_killed)
{
    struct pman *pman;
    struct pman_manager *manager;
    const struct pman_manager_options options = {.tick_ns = MS};
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    members_add(pman, "b", (struct pman_timing){.period = 1, .delay_ns = MS / 4}, NULL);
    ck_assert_int_eq(pman_prec_add(pman, "b", "a"), 0);
    ck_assert_int_eq(pman_manager_start(&manager, pman, &options), 0);
    const char *const names[] = {"a", "b"};
    pid_t pids[] = {members_start("a", 0), members_start("b", 0)};
    for (int i = 0; i < kills(); i++) {
        expect_progress(pman);
        const long which = below(2);
        usleep((useconds_t)below(2000));
        kill(pids[which], SIGKILL);
        ck_assert_int_eq(members_end(pids[which]), 1000 + SIGKILL);
        if (below(2)) /* else the next one comes before anybody has noticed */
            EXPECT_SOON(members_query(pman, names[which]).status == PMAN_DIED);
        const int64_t runs = members_query(pman, names[!which]).activations;
        EXPECT_SOON(members_query(pman, names[!which]).activations > runs);
        pids[which] = members_start(names[which], 0);
    }
    expect_progress(pman);
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
    const struct pman_manager_options options = {.tick_ns = MS};
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (pman_open(&pman, members_table()) || pman_manager_start(&manager, pman, &options))
            _exit(1);
        for (;;)
            pause();
    }
    return pid;
}

START_TEST(managers_are_killed)
{
    struct pman *pman;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", (struct pman_timing){.period = 1, .deadline_ns = 1000 * MS}, NULL);
    members_add(pman, "b", (struct pman_timing){.period = 1, .delay_ns = MS / 4}, NULL);
    ck_assert_int_eq(pman_prec_add(pman, "b", "a"), 0);
    const pid_t a = members_start("a", 0), b = members_start("b", 0);
    for (int i = 0; i < kills(); i++) {
        const pid_t manager = start_manager();
        expect_progress(pman);
        usleep((useconds_t)below(2000));
        kill(manager, SIGKILL);
        ck_assert_int_eq(members_end(manager), 1000 + SIGKILL);
    }
    pman_close(&pman);
    ck_assert_int_eq(members_end(a), ESHUTDOWN); /* the same processes all the time */
    ck_assert_int_eq(members_end(b), ESHUTDOWN);
}
END_TEST

/* Not everywhere may a process be traced, for example in some containers. */
static bool can_trace(void)
{
    const pid_t pid = fork();
    if (pid == 0)
        _exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) ? 1 : 0);
    int status;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool can_have_priorities(void)
{
    const struct sched_param parameters = {.sched_priority = 9}, none = {0};
    return !sched_setscheduler(0, SCHED_FIFO, &parameters) && !sched_setscheduler(0, SCHED_OTHER, &none);
}

int main(void)
{
    const TTest *const always[] = {processes_are_killed, managers_are_killed, NULL};
    const TTest *const traced[] = {caller_is_killed_at_any_instruction, NULL};
    const TTest *const with_priorities[] = {caller_is_killed_while_it_changes_a_priority, NULL};
    const bool can = can_trace();
    int failed = suite_run("pman_kills", TIMEOUT_S, always);
    if (can)
        failed |= suite_run("pman_kills_of_callers", TIMEOUT_S, traced);
    if (can && can_have_priorities())
        return failed | suite_run("pman_kills_with_priorities", TIMEOUT_S, with_priorities);
    printf("skipped: %s\n", can ? "priorities, which this account may not have; `dlex-sched doctor` says what would allow them" :
                                  "callers that are killed at any instruction; this account may not trace processes (ptrace)");
    return failed ? failed : EXIT_SKIPPED;
}
