/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reservations of programs that execute a setuid program, and so become another user's. A user with CAP_SYS_NICE gives them. Skipped
 * without root, and where setuid has no effect. Not covered: a program that changes its user by a system call.
 */
#include "reservation.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ns.h"
#include "reserving.h"

enum { NOBODY = 65534, COMMAND_SIZE = 128, EXIT_SKIPPED = 77 };

static const struct reserve usual = {.budget_ns = 4 * NS_PER_MS, .period_ns = 40 * NS_PER_MS};
static const struct reserve twice = {.budget_ns = 8 * NS_PER_MS, .period_ns = 40 * NS_PER_MS};
static char folder[] = "/tmp/dlex-test-setuid-XXXXXX";
static char setuid_sleep[sizeof folder + sizeof "/sleep"];
static struct undo_journal journal;
static struct reservation reservation;
static pid_t program;
static int go[2], here[2];

/* Becomes a user with one capability, or none (-1). What /proc shows of this process stays as usual. */
static bool become_nobody(int capability)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct kept[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (capability >= 0)
        kept[0].permitted = kept[0].effective = CAP_TO_MASK(capability);
    const bool is_root = !geteuid();
    if (is_root && (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
                    setresuid(NOBODY, NOBODY, NOBODY)))
        return false;
    return !syscall(SYS_capset, &header, kept) && !prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static void *become_sleep(void *unused)
{
    const pid_t self = gettid();
    char word;
    (void)!write(here[1], &self, sizeof self);
    (void)!read(go[0], &word, 1);
    execl(setuid_sleep, "sleep", "30", NULL);
    return unused;
}

_Noreturn static void run_program(bool by_second)
{
    pthread_t second;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* also if the test fails, until exec */
    if (!become_nobody(-1))
        _exit(1);
    if (by_second)
        pthread_create(&second, NULL, become_sleep, NULL);
    else
        become_sleep(NULL);
    for (;;)
        pause();
}

/* Gives the first or second thread of a program a reservation, and lets it execute the setuid program. */
static void start(bool by_second)
{
    pid_t thread;
    enum reservation_answer answer = RESERVATION_FULL;
    program = fork();
    if (!program)
        run_program(by_second);
    ck_assert_int_eq(read(here[0], &thread, sizeof thread), sizeof thread);
    for (int i = 0; i < TRIES && answer == RESERVATION_FULL; i++, pause_a_moment())
        answer = reservation_give(&reservation, &journal, program, thread, &usual);
    ck_assert_int_eq(answer, RESERVATION_DONE);
    ck_assert_int_eq(write(go[1], "x", 1), 1);
    for (int i = 0; i < TRIES && thread_ref_may_change(program); i++)
        pause_a_moment();
    ck_assert(!thread_ref_may_change(program));
    ck_assert_int_eq(sched_getscheduler(program) & ~SCHED_RESET_ON_FORK, SCHED_DEADLINE);
}

static void begin(void)
{
    ck_assert(become_nobody(CAP_SYS_NICE));
    ck_assert_int_eq(undo_journal_create(&journal), 0);
    ck_assert_int_eq(pipe(go), 0);
    ck_assert_int_eq(pipe(here), 0);
}

static void end(void)
{
    kill(program, SIGKILL);
    waitpid(program, NULL, 0);
    undo_journal_remove(&journal);
    *strrchr(journal.path, '/') = '\0';
    rmdir(journal.path);
}

static void expect_nothing_left(void)
{
    ck_assert(!reservation_is_held(&reservation));
    ck_assert_int_eq(sched_getscheduler(program), SCHED_OTHER);
    ck_assert_int_eq(undo_journal_undo(&journal), 0);
}

START_TEST(program_that_becomes_another_users_is_put_back_instead_of_changed)
{
    char text[RESERVATION_REASON_SIZE];
    start(false);
    const enum reservation_answer answer = reservation_adapt(&reservation, &journal, &twice);
    ck_assert_int_eq(answer, RESERVATION_FOREIGN);
    ck_assert_ptr_nonnull(strstr(reservation_reason(answer, &reservation, text), "belongs to another user"));
    expect_nothing_left();
}
END_TEST

START_TEST(program_that_becomes_another_users_is_put_back_at_the_end)
{
    start(false);
    reservation_take_back(&reservation, &journal);
    expect_nothing_left();
}
END_TEST

/* Another thread than the first one takes its id. */
START_TEST(second_thread_that_executes_a_setuid_program_is_put_back_when_it_is_missed)
{
    start(true);
    ck_assert_int_eq(reservation_adapt(&reservation, &journal, &twice), RESERVATION_GONE);
    expect_nothing_left();
}
END_TEST

START_TEST(second_thread_that_executes_a_setuid_program_is_put_back_at_the_end)
{
    start(true);
    reservation_take_back(&reservation, &journal);
    expect_nothing_left();
}
END_TEST

static void expect_that_the_journal_alone_does_not_do(void)
{
    ck_assert_int_eq(undo_journal_undo(&journal), -EPERM);
    ck_assert_int_eq(sched_getscheduler(program) & ~SCHED_RESET_ON_FORK, SCHED_DEADLINE);
    reservation_take_back(&reservation, &journal);
    expect_nothing_left();
}

START_TEST(journal_does_not_put_back_another_users_program)
{
    start(false);
    expect_that_the_journal_alone_does_not_do();
}
END_TEST

START_TEST(journal_does_not_put_back_another_users_program_after_its_second_thread)
{
    start(true);
    expect_that_the_journal_alone_does_not_do();
}
END_TEST

/* Makes a setuid program of root's that sleeps. Returns false where that has no effect. */
static bool make_setuid_sleep(void)
{
    struct statvfs files;
    char command[COMMAND_SIZE];
    if (geteuid() || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) || !mkdtemp(folder))
        return false;
    snprintf(setuid_sleep, sizeof setuid_sleep, "%s/sleep", folder);
    snprintf(command, sizeof command, "cp \"$(command -v sleep)\" %s", setuid_sleep);
    return !statvfs(folder, &files) && !(files.f_flag & ST_NOSUID) && !system(command) && !chmod(folder, 0755) &&
           !chmod(setuid_sleep, 04755);
}

int main(void)
{
    const TTest *const tests[] = {
        program_that_becomes_another_users_is_put_back_instead_of_changed,
        program_that_becomes_another_users_is_put_back_at_the_end,
        second_thread_that_executes_a_setuid_program_is_put_back_when_it_is_missed,
        second_thread_that_executes_a_setuid_program_is_put_back_at_the_end,
        journal_does_not_put_back_another_users_program,
        journal_does_not_put_back_another_users_program_after_its_second_thread,
        NULL,
    };
    int code = EXIT_SKIPPED;
    if (make_setuid_sleep())
        code = run_reserving("reservation_setuid", begin, end, tests);
    else
        puts("skipped: it needs root, and setuid programs");
    unlink(setuid_sleep);
    rmdir(folder);
    return code;
}
