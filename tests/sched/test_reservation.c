/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reservations of a child process. Skipped without the right to reserve. Not covered: processes of other users (test_tune_hostile.py),
 * and cpusets without a root domain, which the laboratory's tests make.
 */
#include "reservation.h"
#include "timer_slack.h"
#include "undo_guard.h"

#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ns.h"
#include "reserving.h"

enum { OTHERS_MAX = 64 };

static const int64_t budget_ns = 4 * NS_PER_MS;
static const struct reserve usual = {.budget_ns = 4 * NS_PER_MS, .period_ns = 40 * NS_PER_MS};
static const struct reserve twice = {.budget_ns = 8 * NS_PER_MS, .period_ns = 40 * NS_PER_MS};
static struct undo_journal journal;
static struct reservation reservation;
static pid_t child;

static void begin(void)
{
    ck_assert_int_eq(undo_journal_create(&journal), 0);
    child = fork();
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* also if the test fails */
        pause();
        _exit(0);
    }
}

static void end(void)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    undo_journal_remove(&journal);
}

/* Other programs of this machine may reserve much for a moment. */
static enum reservation_answer give_soon(struct reservation *given, struct undo_journal *in)
{
    enum reservation_answer answer = RESERVATION_FULL;
    for (int i = 0; i < TRIES && answer == RESERVATION_FULL; i++) {
        answer = reservation_give(given, in, child, child, &usual);
        if (answer == RESERVATION_FULL)
            pause_a_moment();
    }
    return answer;
}

static enum reservation_answer give(void)
{
    return give_soon(&reservation, &journal);
}

static void expect_policy(int number, int64_t runtime_ns)
{
    struct thread_policy now;
    ck_assert_int_eq(sched_getscheduler(child) & ~SCHED_RESET_ON_FORK, number);
    ck_assert_int_eq(thread_policy_get(child, &now), 0);
    if (number == SCHED_DEADLINE)
        ck_assert_int_eq(now.runtime_ns, runtime_ns);
}

/* What an ended reservation took is free only when its period is over. */
static void wait_for_free_bandwidth(void)
{
    for (int i = 0; i < 10; i++)
        pause_a_moment();
}

static void expect_reason(enum reservation_answer answer, const char *part)
{
    char text[RESERVATION_REASON_SIZE];
    ck_assert_msg(strstr(reservation_reason(answer, &reservation, text), part) != NULL, "%s", text);
}

START_TEST(reservation_is_given_changed_and_taken_back)
{
    ck_assert_int_eq(give(), RESERVATION_DONE);
    expect_policy(SCHED_DEADLINE, budget_ns);
    ck_assert_int_eq(reservation_adapt(&reservation, &journal, &twice), RESERVATION_DONE);
    expect_policy(SCHED_DEADLINE, 2 * budget_ns);
    ck_assert(reservation_is_held(&reservation));
    reservation_take_back(&reservation, &journal);
    ck_assert(!reservation_is_held(&reservation));
    expect_policy(SCHED_OTHER, 0);
    ck_assert_int_eq(sched_getscheduler(child) & SCHED_RESET_ON_FORK, 0);
    ck_assert_int_eq(undo_journal_undo(&journal), 0);
    reservation_take_back(&reservation, &journal);
}
END_TEST

START_TEST(batch_and_nice_value_come_back)
{
    const struct sched_param none = {.sched_priority = 0};
    ck_assert_int_eq(setpriority(PRIO_PROCESS, (id_t)child, 7), 0);
    ck_assert_int_eq(sched_setscheduler(child, SCHED_BATCH | SCHED_RESET_ON_FORK, &none), 0);
    ck_assert_int_eq(give(), RESERVATION_DONE);
    reservation_take_back(&reservation, &journal);
    ck_assert_int_eq(sched_getscheduler(child), SCHED_BATCH | SCHED_RESET_ON_FORK);
    ck_assert_int_eq(getpriority(PRIO_PROCESS, (id_t)child), 7);
}
END_TEST

START_TEST(timer_slack_comes_back)
{
    timer_slack_set(child, 1234);
    ck_assert_int_eq(timer_slack_get(child), 1234);
    ck_assert_int_eq(give(), RESERVATION_DONE);
    reservation_take_back(&reservation, &journal);
    ck_assert_int_eq(timer_slack_get(child), 1234);
}
END_TEST

START_TEST(timer_slack_comes_back_from_a_program_that_was_killed_after_it_had_put_back_the_policy)
{
    timer_slack_set(child, 1234);
    ck_assert_int_eq(give(), RESERVATION_DONE);
    ck_assert_int_eq(thread_ordinary_set(child, &reservation.entry.before), 0);
    ck_assert_int_eq(undo_journal_undo(&journal), 0);
    ck_assert_int_eq(timer_slack_get(child), 1234);
}
END_TEST

START_TEST(thread_with_a_real_time_policy_keeps_it)
{
    const struct sched_param five = {.sched_priority = 5};
    ck_assert_int_eq(sched_setscheduler(child, SCHED_RR, &five), 0);
    ck_assert_int_eq(give(), RESERVATION_TAKEN);
    expect_reason(RESERVATION_TAKEN, "real-time policy of its own");
    expect_policy(SCHED_RR, 0);
}
END_TEST

START_TEST(two_programs_cannot_reserve_for_one_thread)
{
    struct reservation other;
    ck_assert_int_eq(give(), RESERVATION_DONE);
    ck_assert_int_eq(reservation_give(&other, &journal, child, child, &usual), RESERVATION_TAKEN);
    reservation_take_back(&reservation, &journal);
    ck_assert_int_eq(give_soon(&other, &journal), RESERVATION_DONE);
    reservation_take_back(&other, &journal);
    expect_policy(SCHED_OTHER, 0);
}
END_TEST

START_TEST(policy_that_somebody_else_has_set_stays)
{
    /* By this call, so that the kernel does not lose the share (thread_policy.c). */
    static const struct thread_policy theirs = {.kind = THREAD_FIFO, .priority = 5};
    ck_assert_int_eq(give(), RESERVATION_DONE);
    ck_assert_int_eq(thread_policy_set(child, &theirs), 0);
    ck_assert_int_eq(reservation_adapt(&reservation, &journal, &twice), RESERVATION_CHANGED);
    ck_assert(!reservation_is_held(&reservation));
    expect_policy(SCHED_FIFO, 0);
}
END_TEST

START_TEST(reservation_that_somebody_else_has_given_stays)
{
    const struct thread_policy theirs = {.kind = THREAD_DEADLINE, .runtime_ns = 5 * NS_PER_MS, .period_ns = 50 * NS_PER_MS};
    ck_assert_int_eq(give(), RESERVATION_DONE);
    ck_assert_int_eq(thread_policy_set(child, &theirs), 0);
    ck_assert_int_eq(undo_journal_undo(&journal), 0); /* as a guard does */
    expect_policy(SCHED_DEADLINE, 5 * NS_PER_MS);
    reservation_take_back(&reservation, &journal);
    expect_policy(SCHED_DEADLINE, 5 * NS_PER_MS);
}
END_TEST

/* Between the record and the change, or with a change that the kernel has refused, the thread has what it had. */
START_TEST(reservation_in_force_is_undone_whatever_was_noted_after_it)
{
    static const struct undo_given refused = {.budget_ns = 39 * NS_PER_MS, .period_ns = 40 * NS_PER_MS};
    ck_assert_int_eq(give(), RESERVATION_DONE);
    ck_assert_int_eq(reservation_adapt(&reservation, &journal, &twice), RESERVATION_DONE);
    ck_assert_int_eq(undo_journal_note(&journal, &reservation.entry, &refused), 0);
    ck_assert_int_eq(undo_journal_note(&journal, &reservation.entry, &refused), 0);
    ck_assert_int_eq(undo_journal_undo(&journal), 1);
    expect_policy(SCHED_OTHER, 0);
}
END_TEST

START_TEST(thread_that_has_ended_is_gone)
{
    ck_assert_int_eq(give(), RESERVATION_DONE);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    ck_assert_int_eq(reservation_adapt(&reservation, &journal, &twice), RESERVATION_GONE);
    ck_assert_int_eq(give(), RESERVATION_GONE);
}
END_TEST

/* Whether the thread lives cannot be found out then, and must not be taken for its end. */
START_TEST(reservation_is_kept_in_the_journal_while_no_file_can_be_opened)
{
    struct rlimit files, none;
    ck_assert_int_eq(give(), RESERVATION_DONE);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = files.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    const enum reservation_answer answer = reservation_adapt(&reservation, &journal, &twice);
    reservation_take_back(&reservation, &journal);
    const int undone = undo_journal_undo(&journal);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
    ck_assert_int_eq(answer, RESERVATION_FAILED);
    expect_reason(answer, "Too many open files");
    ck_assert_int_eq(undone, -EMFILE);
    ck_assert_int_eq(undo_journal_undo(&journal), 1);
    expect_policy(SCHED_OTHER, 0);
}
END_TEST

/* As on a file system with no space for a moment. */
START_TEST(line_written_in_part_does_not_spoil_the_next_one)
{
    static const struct undo_given some = {.budget_ns = 4 * NS_PER_MS, .period_ns = 40 * NS_PER_MS};
    struct rlimit size, small;
    struct undo_entry self = {.before = {.number = 0}};
    ck_assert_int_eq(thread_ref_open(&self.thread, getpid(), getpid()), 0);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &size), 0);
    small = (struct rlimit){.rlim_cur = 8, .rlim_max = size.rlim_max};
    const int limited = setrlimit(RLIMIT_FSIZE, &small); /* under it libcheck cannot write either */
    const int noted = undo_journal_note(&journal, &self, &some);
    const int unlimited = setrlimit(RLIMIT_FSIZE, &size);
    ck_assert_int_eq(limited, 0);
    ck_assert_int_eq(unlimited, 0);
    thread_ref_close(&self.thread);
    ck_assert_int_eq(noted, -ENOSPC);
    ck_assert_int_eq(give(), RESERVATION_DONE);
    ck_assert_int_eq(undo_journal_undo(&journal), 1);
    expect_policy(SCHED_OTHER, 0);
}
END_TEST

START_TEST(pinned_thread_is_refused_with_the_remedy)
{
    cpu_set_t one;
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        return;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    ck_assert_int_eq(sched_setaffinity(child, sizeof one, &one), 0);
    ck_assert_int_eq(give(), RESERVATION_PINNED);
    expect_reason(RESERVATION_PINNED, "taskset");
    expect_policy(SCHED_OTHER, 0);
    ck_assert_int_eq(undo_journal_undo(&journal), 0);
}
END_TEST

START_TEST(more_than_can_be_reserved_is_refused_and_the_old_one_stays)
{
    static const struct reserve nearly_all = {.budget_ns = 38 * NS_PER_MS, .period_ns = 40 * NS_PER_MS};
    struct reservation others[OTHERS_MAX];
    pid_t pids[OTHERS_MAX];
    int given = 0;
    enum reservation_answer answer = RESERVATION_DONE;
    if (sysconf(_SC_NPROCESSORS_ONLN) >= OTHERS_MAX)
        return;
    while (given < OTHERS_MAX && answer == RESERVATION_DONE) {
        pids[given] = fork();
        if (!pids[given]) {
            pause();
            _exit(0);
        }
        answer = reservation_give(&others[given], &journal, pids[given], pids[given], &nearly_all);
        given++;
    }
    ck_assert_int_eq(answer, RESERVATION_FULL);
    expect_reason(RESERVATION_FULL, "does not admit more");
    for (int i = 0; i < given; i++) {
        if (i < given - 1)
            reservation_take_back(&others[i], &journal);
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
    wait_for_free_bandwidth();
}
END_TEST

/* Half of a CPU, more often than the machine has halves. */
START_TEST(what_a_sleeping_thread_had_can_be_reserved_again)
{
    static const struct reserve half = {.budget_ns = 20 * NS_PER_MS, .period_ns = 40 * NS_PER_MS};
    const long times = 2 * sysconf(_SC_NPROCESSORS_ONLN) + 1;
    for (long i = 0; i < times; i++) {
        ck_assert_int_eq(reservation_give(&reservation, &journal, child, child, &half), RESERVATION_DONE);
        wait_for_free_bandwidth(); /* and for the end of its period */
        reservation_take_back(&reservation, &journal);
    }
}
END_TEST

/* With several phases of its period at the end. */
START_TEST(thread_whose_budget_had_run_out_runs_under_its_next_reservation)
{
    const pid_t worker = begin_to_compute();
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(reservation_give(&reservation, &journal, worker, worker, &usual), RESERVATION_DONE);
        usleep((useconds_t)(15 + 5 * i) * 1000);
        reservation_take_back(&reservation, &journal);
        wait_for_free_bandwidth(); /* the timer of its budget ends meanwhile */
        ck_assert_int_eq(reservation_give(&reservation, &journal, worker, worker, &usual), RESERVATION_DONE);
        const int64_t before_ns = running_ns(worker);
        int tries = 0;
        while (running_ns(worker) == before_ns && tries++ < TRIES)
            pause_a_moment();
        reservation_take_back(&reservation, &journal); /* otherwise it could not even be killed */
        ck_assert_msg(tries < TRIES, "taken back after %d ms, it did not run again", 15 + 5 * i);
        wait_for_free_bandwidth();
    }
    kill(worker, SIGKILL);
    waitpid(worker, NULL, 0);
}
END_TEST

/* Killed between the two calls with which a thread is put back. */
START_TEST(thread_that_was_on_its_way_back_is_put_back)
{
    static const struct thread_policy parting = {.kind = THREAD_DEADLINE, .runtime_ns = 1024, .period_ns = 1100 * NS_PER_MS};
    ck_assert(thread_policy_is_parting(&parting));
    ck_assert_int_eq(give(), RESERVATION_DONE);
    ck_assert_int_eq(thread_policy_set(child, &parting), 0);
    ck_assert_int_eq(undo_journal_undo(&journal), 1);
    expect_policy(SCHED_OTHER, 0);
}
END_TEST

START_TEST(period_outside_the_kernels_limits_is_refused)
{
    static const struct reserve too_long = {.budget_ns = NS_PER_S, .period_ns = 100 * NS_PER_S};
    ck_assert_int_eq(reservation_give(&reservation, &journal, child, child, &too_long), RESERVATION_PERIOD);
    expect_reason(RESERVATION_PERIOD, "`sudo sysctl kernel.sched_deadline_period_max_us=100000000`");
    expect_policy(SCHED_OTHER, 0);
}
END_TEST

START_TEST(root_without_the_right_reads_about_the_container)
{
    if (geteuid())
        return;
    expect_reason(RESERVATION_NO_RIGHT, "start the container with `--cap-add=SYS_NICE`");
}
END_TEST

/* Also the refusals that do not happen on this machine. */
START_TEST(each_refusal_has_a_command_or_says_that_it_cannot_be_changed)
{
    static const struct reserve wanted[] = {
        {.budget_ns = NS_PER_S, .period_ns = 100 * NS_PER_S},
        {.budget_ns = 1, .period_ns = NS_PER_US},
        {.budget_ns = 1, .period_ns = NS_PER_MS},
    };
    static const int errors[] = {-EMFILE, -ENOSPC, -ENOMEM};
    char text[RESERVATION_REASON_SIZE];
    for (int answer = RESERVATION_GONE; answer <= RESERVATION_FAILED; answer++) {
        for (int i = 0; i < 3; i++) {
            const struct reservation refused = {
                .entry.thread = {.process = 4194304, .thread = 4194304}, .wanted = wanted[i], .error = errors[i],
            };
            reservation_reason((enum reservation_answer)answer, &refused, text);
            ck_assert_msg(strchr(text, '`') || strstr(text, "cannot be changed"), "answer %d: %s", answer, text);
            ck_assert_msg(strlen(text) < sizeof text - 1, "answer %d is cut off: %s", answer, text);
        }
    }
}
END_TEST

/* The program that gave it is killed; its guard is not. */
START_TEST(guard_takes_back_what_a_killed_program_has_given)
{
    int ends[2];
    char ready;
    ck_assert_int_eq(pipe(ends), 0);
    const pid_t program = fork();
    if (!program) {
        struct undo_journal its;
        struct undo_guard guard;
        const bool is_given = !undo_journal_create(&its) && !undo_guard_start(&guard, &its) &&
                              give_soon(&reservation, &its) == RESERVATION_DONE;
        (void)!write(ends[1], is_given ? "y" : "n", 1);
        pause();
    }
    ck_assert_int_eq(read(ends[0], &ready, 1), 1);
    ck_assert_int_eq(ready, 'y');
    expect_policy(SCHED_DEADLINE, budget_ns);
    kill(program, SIGKILL);
    waitpid(program, NULL, 0);
    for (int i = 0; i < TRIES && (sched_getscheduler(child) & ~SCHED_RESET_ON_FORK) == SCHED_DEADLINE; i++)
        pause_a_moment();
    expect_policy(SCHED_OTHER, 0);
}
END_TEST

START_TEST(repair_takes_back_what_nobody_guards)
{
    int ends[2], journals;
    char ready;
    ck_assert_int_eq(pipe(ends), 0);
    const pid_t program = fork();
    if (!program) {
        struct undo_journal its;
        const bool is_given = !undo_journal_create(&its) &&
                              give_soon(&reservation, &its) == RESERVATION_DONE;
        (void)!write(ends[1], is_given ? "y" : "n", 1);
        pause();
    }
    ck_assert_int_eq(read(ends[0], &ready, 1), 1);
    ck_assert_int_eq(ready, 'y');
    kill(program, SIGKILL);
    waitpid(program, NULL, 0);
    expect_policy(SCHED_DEADLINE, budget_ns);
    ck_assert_int_ge(undo_journals_repair(&journals), 1);
    expect_policy(SCHED_OTHER, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        reservation_is_given_changed_and_taken_back,
        batch_and_nice_value_come_back,
        timer_slack_comes_back,
        timer_slack_comes_back_from_a_program_that_was_killed_after_it_had_put_back_the_policy,
        thread_with_a_real_time_policy_keeps_it,
        two_programs_cannot_reserve_for_one_thread,
        policy_that_somebody_else_has_set_stays,
        reservation_that_somebody_else_has_given_stays,
        reservation_in_force_is_undone_whatever_was_noted_after_it,
        thread_that_has_ended_is_gone,
        reservation_is_kept_in_the_journal_while_no_file_can_be_opened,
        line_written_in_part_does_not_spoil_the_next_one,
        pinned_thread_is_refused_with_the_remedy,
        more_than_can_be_reserved_is_refused_and_the_old_one_stays,
        what_a_sleeping_thread_had_can_be_reserved_again,
        thread_whose_budget_had_run_out_runs_under_its_next_reservation,
        thread_that_was_on_its_way_back_is_put_back,
        period_outside_the_kernels_limits_is_refused,
        root_without_the_right_reads_about_the_container,
        each_refusal_has_a_command_or_says_that_it_cannot_be_changed,
        guard_takes_back_what_a_killed_program_has_given,
        repair_takes_back_what_nobody_guards,
        NULL,
    };
    return run_reserving("reservation", begin, end, tests);
}
