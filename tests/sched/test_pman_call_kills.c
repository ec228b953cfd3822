/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs that are killed in the middle of a call, at any instruction, by single steps: all calls that change a table, those of
 * its manager among them, and those that make a table and end it. The table works on each time. Not covered: processes and managers
 * that are killed at any time (test_pman_kills.c).
 *
 * DLEX_TEST_KILLS is the number of kills of each kind (200), DLEX_TEST_SEED selects where.
 */
#include "pman_members.h"

#include "pman_services.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

enum { EXIT_SKIPPED = 77, TIMEOUT_S = 300, TRIES = 10, MANY = 10000000 };

static const struct pman_timing each = {.period = 1};
static const struct pman_options usual;

/* A step of a victim is faster if nobody has to wake another CPU for it. */
static void stay_on_one_cpu(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
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

/*
 * Lets the victim do so many steps, or all until it stops itself. Returns how many it did. how: PTRACE_SINGLESTEP for instructions,
 * PTRACE_SYSCALL for beginnings and ends of system calls.
 */
static long advance(pid_t pid, int how, long steps)
{
    for (long done = 0; done < steps; done++) {
        int status;
        suite_check(!ptrace(how, pid, NULL, NULL));
        suite_check(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
        if (WSTOPSIG(status) != SIGTRAP)
            return done;
    }
    return steps;
}

static long step(pid_t pid, long instructions)
{
    return advance(pid, PTRACE_SINGLESTEP, instructions);
}

static void end_victim(pid_t pid)
{
    kill(pid, SIGKILL);
    ck_assert_int_eq(members_end(pid), 1000 + SIGKILL);
}

enum { CALLS = 17 };

/* What a manager does when it sees that the caller has ended, for its own process of this name. */
static void bury(struct pman *pman, const char *name)
{
    const int index = pman_table_find(pman_shared_table(pman->shared), name);
    pman_services_bury(pman->shared, getpid(), pman->shared->slot[index].start);
}

/*
 * What a victim does: all kinds of changes, for two processes a and b, of which b comes after a, and for c, which is the victim.
 * The times of c have passed when the manager's timer comes: it releases c, and the next time it finds that c has missed its
 * deadline.
 */
static void call(struct pman *pman, int number)
{
    static const struct pman_timing timing = {.period = 1}, of_c = {.period = 1, .delay_ns = 1, .deadline_ns = 1};
    switch (number) {
    case 0: pman_tick(pman, 0); break;
    case 1: pman_epilogue(pman, "a"); break;
    case 2: pman_prec_rem(pman, "b", "a"); break;
    case 3: pman_prec_add(pman, "b", "a"); break;
    case 4: pman_tpupd(pman, "a", PMAN_PERIOD, &timing); break;
    case 5: pman_epilogue(pman, "b"); break;
    case 6: pman_procadd(pman, "c", &of_c, 0, "a"); break;
    case 7: pman_attach(pman, "c", getpid(), PMAN_BY_FUTEX); break;
    case 8: pman_tick(pman, 0); break;
    case 9: pman_services_timer(pman->shared, PMAN_NEVER); break;
    case 10: pman_wait(pman, "c"); break;
    case 11: pman_epilogue(pman, "a"); break;
    case 12: pman_services_timer(pman->shared, PMAN_NEVER); break;
    case 13: bury(pman, "c"); break;
    case 14: pman_attach(pman, "c", getpid(), PMAN_BY_FUTEX); break;
    case 15: pman_detach(pman, "c"); break;
    case 16: pman_procdel(pman, "c"); break;
    }
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

/* With a and b as this process. */
static void begin_cycles(struct pman **pman)
{
    members_begin(pman, PMAN_DEADLINES_TIMER);
    members_add(*pman, "a", each, NULL);
    members_add(*pman, "b", each, NULL);
    ck_assert_int_eq(pman_prec_add(*pman, "b", "a"), 0);
    ck_assert_int_eq(pman_attach(*pman, "a", getpid(), PMAN_BY_FUTEX), 0);
    ck_assert_int_eq(pman_attach(*pman, "b", getpid(), PMAN_BY_FUTEX), 0);
}

/* The calls do what they are here for: c runs, is late, is buried, and is gone. */
static void expect_calls_to_take_effect(struct pman *pman)
{
    static const struct {
        int after;
        const char *name;
        enum pman_status status;
    } expected[] = {
        {3, "b", PMAN_RUNNING}, {8, "c", PMAN_WAITING}, {9, "c", PMAN_RUNNING}, {11, "a", PMAN_IDLE}, {12, "a", PMAN_RUNNING},
        {13, "c", PMAN_DIED}, {14, "c", PMAN_IDLE}, {15, "c", PMAN_REGISTERED},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const pid_t victim = start_victim(call, CALLS, expected[i].after + 1);
        ck_assert_int_eq(members_query(pman, expected[i].name).status, expected[i].status);
        end_victim(victim);
        tidy(pman);
    }
}

START_TEST(caller_is_killed_at_any_instruction)
{
    struct pman *pman;
    long instructions[CALLS];
    int kills = 0;
    stay_on_one_cpu();
    begin_cycles(&pman);
    expect_calls_to_take_effect(pman);
    for (int i = 0; i < CALLS; i++) {
        const pid_t whole = start_victim(call, CALLS, i);
        instructions[i] = step(whole, MANY);
        ck_assert_int_lt(instructions[i], MANY);
        end_victim(whole);
        tidy(pman);
    }
    while ((int)pman->shared->recoveries < members_kills()) {
        ck_assert_int_lt(kills, TRIES * members_kills());
        const int number = kills++ % CALLS;
        const pid_t victim = start_victim(call, CALLS, number);
        step(victim, members_random(instructions[number]));
        end_victim(victim);
        tidy(pman);
        expect_cycle(pman);
    }
    printf("%u of %d kills while the table was locked\n", pman->shared->recoveries, kills);
    pman_close(&pman);
}
END_TEST

enum { TABLE_CALLS = 2 };

/* Beside that of the test. */
static char other_table[PMAN_NAME_SIZE];

static void make_and_end(struct pman *unused, int number)
{
    static struct pman *made;
    (void)unused;
    if (number == 0)
        pman_init(&made, other_table, &usual);
    else
        pman_close(&made);
}

static void expect_instance(struct pman *pman)
{
    members_add(pman, "a", each, NULL);
    ck_assert_int_eq(pman_attach(pman, "a", getpid(), PMAN_BY_FUTEX), 0);
    ck_assert_int_eq(pman_tick(pman, 0), 0);
    ck_assert_int_eq(pman_wait(pman, "a"), 0);
    ck_assert_int_eq(pman_epilogue(pman, "a"), 0);
}

/* There is a whole table or none, and the next program can make one of this name. Returns whether there was one. */
static bool expect_whole_table_or_none(void)
{
    struct pman *pman;
    const int error = pman_open(&pman, other_table);
    ck_assert(!error || error == -ENOENT);
    if (!error) {
        expect_instance(pman);
        pman_close(&pman);
    }
    ck_assert_int_eq(pman_init(&pman, other_table, &usual), 0);
    expect_instance(pman);
    pman_close(&pman);
    return !error;
}

/* Others see what it does by its system calls. So it is killed between two of them, or some instructions later. */
START_TEST(program_is_killed_while_it_makes_or_ends_a_table)
{
    struct pman *pman;
    long system_calls[TABLE_CALLS];
    int left[TABLE_CALLS] = {0};
    stay_on_one_cpu();
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    snprintf(other_table, sizeof other_table, "%s-2", members_table());
    for (int i = 0; i < TABLE_CALLS; i++) {
        const pid_t victim = start_victim(make_and_end, TABLE_CALLS, i);
        system_calls[i] = advance(victim, PTRACE_SYSCALL, MANY);
        end_victim(victim);
        ck_assert_int_eq(expect_whole_table_or_none(), i == 0);
    }
    for (int i = 0; i < members_kills(); i++) {
        const int number = i % TABLE_CALLS;
        const pid_t victim = start_victim(make_and_end, TABLE_CALLS, number);
        advance(victim, PTRACE_SYSCALL, members_random(system_calls[number] + 1));
        step(victim, members_random(1000));
        end_victim(victim);
        left[number] += expect_whole_table_or_none();
    }
    printf("of %d killed programs, %d left the table that they made, and %d the one that they ended\n", members_kills(), left[0],
           left[1]);
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
    for (int i = 0; i < members_kills(); i++) {
        const pid_t victim = start_priority_victim(pman, i % PRIORITY_CALLS);
        step(victim, members_random(5000));
        end_victim(victim);
        expect_priority_of_table(pman);
    }
    pman_close(&pman);
    ck_assert_int_eq(priority_of_target(), 0);
    end_victim(target);
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
    const TTest *const traced[] = {caller_is_killed_at_any_instruction, program_is_killed_while_it_makes_or_ends_a_table, NULL};
    const TTest *const with_priorities[] = {caller_is_killed_while_it_changes_a_priority, NULL};
    if (!can_trace()) {
        puts("skipped: this account may not trace processes (ptrace)");
        return EXIT_SKIPPED;
    }
    const int failed = suite_run("pman_call_kills", TIMEOUT_S, traced);
    if (can_have_priorities())
        return failed | suite_run("pman_call_kills_with_priorities", TIMEOUT_S, with_priorities);
    puts("skipped: priorities, which this account may not have; `dlex-sched doctor` says what would allow them");
    return failed ? failed : EXIT_SKIPPED;
}
