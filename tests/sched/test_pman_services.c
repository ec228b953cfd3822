/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The library's services on shared memory, and how processes are activated. Not covered: what a table does in each case (the tests
 * of pman_table.h), wrong arguments (test_pman_refusals.c), the manager (test_pman_manager.c), when an instance begins
 * (test_pman_starts.c), killed programs (test_pman_kills.c), priorities (test_pman_priority.c).
 */
#include "pman_members.h"

#include "pman_shared.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

static const struct pman_timing each = {.period = 1};
static const struct pman_options usual;

START_TEST(name_belongs_to_one_table)
{
    struct pman *pman, *other;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    ck_assert_int_eq(pman_init(&other, members_table(), &usual), -EEXIST);
    ck_assert_int_eq(pman_open(&other, "test-nowhere"), -ENOENT);
    ck_assert_int_eq(pman_open(&other, members_table()), 0);
    ck_assert_int_eq(pman_procadd(other, "a", &each, 0, NULL), 0);
    ck_assert_int_eq(members_query(pman, "a").status, PMAN_REGISTERED);
    pman_leave(&other);
    ck_assert_ptr_null(other);
    pman_leave(&other);
    pman_close(&pman);
    ck_assert_ptr_null(pman);
    pman_close(&pman);
}
END_TEST

/* In the set-up of the tests. */
START_TEST(table_of_a_killed_test_is_removed)
{
    char name[PMAN_NAME_SIZE];
    struct pman *pman;
    const pid_t killed = fork();
    if (killed == 0) {
        snprintf(name, sizeof name, "test-%d-1", (int)getpid());
        if (pman_init(&pman, name, &usual) == 0)
            raise(SIGKILL);
        _exit(1);
    }
    siginfo_t ended;
    ck_assert_int_eq(waitid(P_PID, (id_t)killed, &ended, WEXITED | WNOWAIT), 0);
    snprintf(name, sizeof name, "test-%d-1", (int)killed);
    ck_assert_int_eq(pman_open(&pman, name), 0); /* another test may remove it once nobody has the id any more */
    pman_leave(&pman);
    ck_assert_int_eq(members_end(killed), 1000 + SIGKILL);
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    pman_close(&pman);
    ck_assert_int_eq(pman_open(&pman, name), -ENOENT);
}
END_TEST

START_TEST(closed_table_is_gone_for_all)
{
    struct pman *pman, *other;
    struct pman_statistics statistics;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    ck_assert_int_eq(pman_open(&other, members_table()), 0);
    pman_close(&pman);
    ck_assert_int_eq(pman_query(other, "a", &statistics), -ESHUTDOWN);
    ck_assert_int_eq(pman_tick(other, 0), -ESHUTDOWN);
    ck_assert_int_eq(pman_wait(other, "a"), -ESHUTDOWN);
    ck_assert_int_eq(pman_open(&pman, members_table()), -ENOENT);
    ck_assert_int_eq(pman_init(&pman, members_table(), &usual), 0);
    ck_assert_int_eq(pman_query(pman, "a", &statistics), -ENOENT);
    pman_leave(&other);
    pman_close(&pman);
}
END_TEST

/* A program was killed after it had closed the table, before it freed the name. */
START_TEST(name_of_a_closed_table_is_free)
{
    struct pman *pman, *other;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    pman->shared->is_closed = 1;
    ck_assert_int_eq(pman_open(&other, members_table()), -ENOENT);
    ck_assert_int_eq(pman_init(&other, members_table(), &usual), 0);
    ck_assert_int_eq(pman_procadd(other, "a", &each, 0, NULL), 0);
    pman_leave(&pman);
    pman_close(&other);
}
END_TEST

START_TEST(other_files_are_not_taken_for_tables)
{
    char path[96];
    struct pman *pman;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    snprintf(path, sizeof path, "/dev/shm/dlex-pman-%u-%s", (unsigned)geteuid(), members_table());
    ck_assert_int_eq(access(path, R_OK | W_OK), 0);
    pman->shared->version++;
    struct pman *other;
    ck_assert_int_eq(pman_open(&other, members_table()), -EPROTO);
    pman->shared->version--;
    pman_close(&pman);
    ck_assert_int_eq(access(path, F_OK), -1);

    const int file = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, path, sizeof path), sizeof path);
    close(file);
    ck_assert_int_eq(pman_open(&other, members_table()), -EPROTO);
    ck_assert_int_eq(pman_init(&other, members_table(), &usual), -EEXIST);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(symlink("/dev/null", path), 0);
    ck_assert_int_eq(pman_open(&other, members_table()), -EACCES);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(processes_run_in_order_of_precedence)
{
    struct pman *pman;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    members_add(pman, "b", each, NULL);
    ck_assert_int_eq(pman_prec_add(pman, "b", "a"), 0);
    const pid_t b = members_start("b", 0), a = members_start("a", 1000);
    EXPECT_SOON(members_is_idle(pman, "a") && members_is_idle(pman, "b"));
    for (int k = 1; k <= 100; k++) {
        ck_assert_int_eq(pman_tick(pman, 0), 0);
        EXPECT_SOON(members_query(pman, "b").activations == k && members_is_idle(pman, "b"));
        ck_assert_int_ge(members_query(pman, "b").last_start_ns, members_query(pman, "a").last_finish_ns);
    }
    pman_close(&pman);
    ck_assert_int_eq(members_end(a), ESHUTDOWN);
    ck_assert_int_eq(members_end(b), ESHUTDOWN);
}
END_TEST

START_TEST(instance_that_was_released_early_is_not_lost)
{
    struct pman *pman;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    ck_assert_int_eq(pman_attach(pman, "a", getpid(), PMAN_BY_FUTEX), 0);
    ck_assert_int_eq(pman_tick(pman, 0), 0);
    ck_assert_int_eq(pman_wait(pman, "a"), 0);
    ck_assert_int_eq(pman_wait(pman, "a"), -EBUSY);
    ck_assert_int_eq(pman_epilogue(pman, "a"), 0);
    ck_assert_int_eq(pman_epilogue(pman, "a"), -EALREADY);
    pman_close(&pman);
}
END_TEST

/* Somebody else ended it, so that there is nothing to do. */
START_TEST(instance_that_is_over_is_not_begun)
{
    struct pman *pman;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    ck_assert_int_eq(pman_attach(pman, "a", getpid(), PMAN_BY_FUTEX), 0);
    ck_assert_int_eq(pman_tick(pman, 0), 0);
    ck_assert_int_eq(pman_epilogue(pman, "a"), 0);
    const int64_t ticks = pman->shared->table[pman->shared->current].ticks;
    const pid_t ticker = fork();
    if (ticker == 0) {
        usleep(20000);
        _exit(pman_tick(pman, 0) != 0);
    }
    ck_assert_int_eq(pman_wait(pman, "a"), 0);
    ck_assert_int_eq(pman->shared->table[pman->shared->current].ticks, ticks + 1);
    ck_assert_int_eq(members_end(ticker), 0);
    pman_close(&pman);
}
END_TEST

START_TEST(only_the_process_of_a_name_waits_for_it)
{
    struct pman *pman;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    ck_assert_int_eq(pman_wait(pman, "b"), -ENOENT);
    ck_assert_int_eq(pman_wait(pman, "a"), -ESRCH);
    ck_assert_int_eq(pman_attach(pman, "a", getppid(), PMAN_BY_FUTEX), 0);
    ck_assert_int_eq(pman_wait(pman, "a"), -ESRCH);
    pman_close(&pman);
}
END_TEST

START_TEST(waiting_ends_when_the_process_is_detached_or_removed)
{
    struct pman *pman;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    members_add(pman, "b", each, NULL);
    const pid_t a = members_start("a", 0), b = members_start("b", 0);
    EXPECT_SOON(members_is_idle(pman, "a") && members_is_idle(pman, "b"));
    ck_assert_int_eq(pman_detach(pman, "a"), 0);
    ck_assert_int_eq(pman_procdel(pman, "b"), 0);
    ck_assert_int_eq(members_end(a), ESRCH);
    ck_assert_int_eq(members_end(b), ESRCH);
    ck_assert_int_eq(members_query(pman, "a").status, PMAN_REGISTERED);
    pman_close(&pman);
}
END_TEST

static void do_nothing(int signal)
{
    (void)signal;
}

START_TEST(signal_interrupts_the_wait)
{
    struct pman *pman;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    const struct sigaction action = {.sa_handler = do_nothing};
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    ck_assert_int_eq(pman_attach(pman, "a", getpid(), PMAN_BY_FUTEX), 0);
    const pid_t waiting = getpid(), sender = fork();
    if (sender == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) { /* one of them comes while it waits */
            usleep(5000);
            kill(waiting, SIGUSR1);
        }
    }
    const int error = pman_wait(pman, "a");
    signal(SIGUSR1, SIG_IGN); /* more may come */
    ck_assert_int_eq(error, -EINTR);
    kill(sender, SIGKILL);
    members_end(sender);
    pman_close(&pman);
}
END_TEST

/* A process that waits for signals, without pman_wait. */
static _Noreturn void run_by_signal(const char *name, int instances)
{
    struct pman *pman;
    sigset_t awaited;
    int signal;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &awaited, NULL);
    int error = pman_open(&pman, members_table());
    if (!error)
        error = pman_attach(pman, name, getpid(), PMAN_BY_SIGNAL);
    for (int i = 0; i < instances && !error; i++) {
        error = -sigwait(&awaited, &signal);
        if (!error)
            error = pman_epilogue(pman, name);
    }
    _exit(-error);
}

START_TEST(process_is_activated_by_a_signal)
{
    struct pman *pman;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    const pid_t a = fork();
    if (a == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run_by_signal("a", 20);
    }
    EXPECT_SOON(members_query(pman, "a").status == PMAN_IDLE);
    for (int k = 1; k <= 20; k++) {
        ck_assert_int_eq(pman_tick(pman, 0), 0);
        EXPECT_SOON(members_query(pman, "a").status == PMAN_IDLE);
        ck_assert_int_eq(members_query(pman, "a").activations, k);
    }
    ck_assert_int_eq(members_end(a), 0);
    pman_close(&pman);
}
END_TEST

/* Waits until a process has stopped itself. */
static void wait_for_stop(pid_t pid)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
    ck_assert(WIFSTOPPED(status));
}

START_TEST(process_that_stops_itself_is_continued)
{
    struct pman *pman;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    const pid_t a = fork();
    if (a == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int i = 0; i < 4; i++)
            raise(SIGSTOP);
        _exit(7);
    }
    wait_for_stop(a);
    ck_assert_int_eq(pman_attach(pman, "a", a, PMAN_BY_CONT), 0);
    for (int k = 0; k < 3; k++) {
        ck_assert_int_eq(pman_tick(pman, 0), 0);
        wait_for_stop(a);
        ck_assert_int_eq(pman_epilogue(pman, "a"), 0);
    }
    ck_assert_int_eq(pman_tick(pman, 0), 0);
    ck_assert_int_eq(members_end(a), 7);
    pman_close(&pman);
}
END_TEST

START_TEST(living_processes_are_not_replaced_dead_ones_are)
{
    struct pman *pman;
    members_begin(&pman, PMAN_DEADLINES_TIMER);
    members_add(pman, "a", each, NULL);
    const pid_t first = members_start("a", 0);
    EXPECT_SOON(members_is_idle(pman, "a"));
    ck_assert_int_eq(pman_attach(pman, "a", getpid(), PMAN_BY_FUTEX), -EBUSY);
    ck_assert_int_eq(pman_tick(pman, 0), 0);
    kill(first, SIGKILL);
    members_end(first);
    ck_assert_int_eq(pman_attach(pman, "a", first, PMAN_BY_FUTEX), -ESRCH);
    ck_assert_int_eq(pman_attach(pman, "a", getpid(), PMAN_BY_FUTEX), 0); /* there is no manager that noticed the end */
    ck_assert_int_eq(pman_tick(pman, 0), 0);
    ck_assert_int_eq(pman_wait(pman, "a"), 0);
    pman_close(&pman);
}
END_TEST

/* Expects the next record to be of this kind and number. */
static void expect_record(struct pman_log_reader *reader, const struct pman_log *log, enum pman_log_kind kind, int64_t number)
{
    struct pman_log_record record;
    ck_assert_int_eq(pman_log_read(reader, log, &record), 1);
    ck_assert_str_eq(pman_log_kind_name((enum pman_log_kind)record.kind), pman_log_kind_name(kind));
    ck_assert_int_eq(record.number, number);
    ck_assert_int_ge(record.time_ns, 0);
    ck_assert_int_le(record.time_ns, pman_now_ns());
}

START_TEST(log_says_what_happened)
{
    struct pman *pman;
    struct pman_log_reader reader;
    struct pman_log_record record;
    members_begin(&pman, PMAN_DEADLINES_TICK);
    const struct pman_log *const log = &pman->shared->log;
    members_add(pman, "a", (struct pman_timing){.period = 1, .deadline_ns = 1}, NULL);
    ck_assert_int_eq(pman_attach(pman, "a", getpid(), PMAN_BY_FUTEX), 0);
    pman_log_follow(&reader, log);
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(pman_tick(pman, 0), 0);
        ck_assert_int_eq(pman_wait(pman, "a"), 0);
        ck_assert_int_eq(pman_epilogue(pman, "a"), 0);
        expect_record(&reader, log, PMAN_LOG_RELEASE, k + 1);
        expect_record(&reader, log, PMAN_LOG_TICK, k);
        expect_record(&reader, log, PMAN_LOG_MISS, k + 1);
        expect_record(&reader, log, PMAN_LOG_START, k + 1);
        expect_record(&reader, log, PMAN_LOG_FINISH, k + 1);
        ck_assert_int_eq(pman_log_read(&reader, log, &record), 0);
    }
    ck_assert_int_eq(reader.lost, 0);
    pman_close(&pman);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        name_belongs_to_one_table,
        table_of_a_killed_test_is_removed,
        closed_table_is_gone_for_all,
        name_of_a_closed_table_is_free,
        other_files_are_not_taken_for_tables,
        processes_run_in_order_of_precedence,
        instance_that_was_released_early_is_not_lost,
        instance_that_is_over_is_not_begun,
        only_the_process_of_a_name_waits_for_it,
        waiting_ends_when_the_process_is_detached_or_removed,
        signal_interrupts_the_wait,
        process_is_activated_by_a_signal,
        process_that_stops_itself_is_continued,
        living_processes_are_not_replaced_dead_ones_are,
        log_says_what_happened,
        NULL,
    };
    return suite_run("pman_services", 120, tests);
}
