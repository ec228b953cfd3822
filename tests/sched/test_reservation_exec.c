/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A reservation of a thread that then calls exec, and so takes the id of its process's first thread. Skipped without the right to
 * reserve. Not covered: exec by the first thread itself, which keeps its id (test_tune.py).
 */
#include "reservation.h"
#include "thread_list.h"

#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ns.h"
#include "reserving.h"

static const struct reserve usual = {.budget_ns = 4 * NS_PER_MS, .period_ns = 40 * NS_PER_MS};
static struct undo_journal journal;
static struct reservation reservation;
static pid_t program;
static int go[2], here[2];

static void *become_sleep(void *unused)
{
    const pid_t self = gettid();
    char word;
    (void)!write(here[1], &self, sizeof self);
    (void)!read(go[0], &word, 1);
    execlp("sleep", "sleep", "30", NULL);
    return unused;
}

_Noreturn static void run_program(void)
{
    pthread_t second;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* also if the test fails */
    pthread_create(&second, NULL, become_sleep, NULL);
    for (;;)
        pause();
}

/* Gives the second thread of a program a reservation, and lets it call exec. */
static void begin(void)
{
    pid_t thread;
    char name[THREAD_NAME_SIZE] = "";
    enum reservation_answer answer = RESERVATION_FULL;
    ck_assert_int_eq(undo_journal_create(&journal), 0);
    ck_assert_int_eq(pipe(go), 0);
    ck_assert_int_eq(pipe(here), 0);
    program = fork();
    if (!program)
        run_program();
    ck_assert_int_eq(read(here[0], &thread, sizeof thread), sizeof thread);
    for (int i = 0; i < TRIES && answer == RESERVATION_FULL; i++, pause_a_moment())
        answer = reservation_give(&reservation, &journal, program, thread, &usual);
    ck_assert_int_eq(answer, RESERVATION_DONE);
    ck_assert_int_eq(write(go[1], "x", 1), 1);
    for (int i = 0; i < TRIES && strcmp(name, "sleep"); i++, pause_a_moment())
        thread_list_name(program, program, name);
    ck_assert_int_eq(sched_getscheduler(program) & ~SCHED_RESET_ON_FORK, SCHED_DEADLINE);
}

static void end(void)
{
    kill(program, SIGKILL);
    waitpid(program, NULL, 0);
    undo_journal_remove(&journal);
}

START_TEST(thread_that_has_called_exec_is_put_back_when_it_is_missed)
{
    ck_assert_int_eq(reservation_adapt(&reservation, &journal, &usual), RESERVATION_GONE);
    ck_assert(!reservation_is_held(&reservation));
    ck_assert_int_eq(sched_getscheduler(program), SCHED_OTHER);
    ck_assert_int_eq(undo_journal_undo(&journal), 0);
}
END_TEST

START_TEST(thread_that_has_called_exec_is_put_back_at_the_end)
{
    reservation_take_back(&reservation, &journal);
    ck_assert_int_eq(sched_getscheduler(program), SCHED_OTHER);
}
END_TEST

START_TEST(journal_puts_back_a_thread_that_has_called_exec)
{
    ck_assert_int_eq(undo_journal_undo(&journal), 1);
    ck_assert_int_eq(sched_getscheduler(program), SCHED_OTHER);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        thread_that_has_called_exec_is_put_back_when_it_is_missed,
        thread_that_has_called_exec_is_put_back_at_the_end,
        journal_puts_back_a_thread_that_has_called_exec,
        NULL,
    };
    return run_reserving("reservation_exec", begin, end, tests);
}
