/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Journals without reservations, and threads as /proc shows them, which need no rights. What journals undo is in test_reservation and
 * test_tune.py.
 */
#include "undo_journal.h"

#include "suite.h"
#include "thread_list.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct undo_given usual = {.budget_ns = 4000000, .period_ns = 40000000};

static struct undo_entry entry_of(pid_t process)
{
    struct undo_entry entry = {.before = {.number = 0}};
    ck_assert_int_eq(thread_ref_open(&entry.thread, process, process), 0);
    return entry;
}

START_TEST(journal_is_a_file_of_the_user_alone)
{
    struct undo_journal journal;
    struct stat status;
    ck_assert_int_eq(undo_journal_create(&journal), 0);
    ck_assert_int_eq(stat(journal.path, &status), 0);
    ck_assert_int_eq(status.st_mode & 0777, 0600);
    ck_assert_int_eq(status.st_uid, geteuid());
    *strrchr(journal.path, '/') = '\0';
    ck_assert_int_eq(stat(journal.path, &status), 0);
    ck_assert_int_eq(status.st_mode & 0777, 0700);
    journal.path[strlen(journal.path)] = '/';
    undo_journal_remove(&journal);
    ck_assert_int_eq(access(journal.path, F_OK), -1);
    undo_journal_remove(&journal);
}
END_TEST

START_TEST(thread_without_a_reservation_is_left_alone)
{
    struct undo_journal journal;
    struct undo_entry self = entry_of(getpid());
    ck_assert_int_eq(undo_journal_create(&journal), 0);
    ck_assert_int_eq(undo_journal_note(&journal, &self, &usual), 0);
    ck_assert_int_eq(undo_restore(&self), 0);
    ck_assert_int_eq(undo_journal_undo(&journal), 0);
    undo_journal_done(&journal, &self);
    ck_assert_int_eq(undo_journal_undo(&journal), 0);
    undo_journal_remove(&journal);
    thread_ref_close(&self.thread);
}
END_TEST

/* A change writes over the one that is not in force, and the journal does not grow. */
START_TEST(changed_reservation_takes_the_place_of_the_older_one)
{
    static const struct undo_given largest = {.budget_ns = INT64_MAX, .period_ns = INT64_MAX};
    struct undo_journal journal;
    struct undo_entry self = entry_of(getpid());
    struct stat first, then;
    char text[512] = "";
    ck_assert_int_eq(undo_journal_create(&journal), 0);
    ck_assert_int_eq(undo_journal_note(&journal, &self, &largest), 0);
    undo_entry_changed(&self);
    ck_assert_int_eq(fstat(journal.fd, &first), 0);
    ck_assert_int_eq(undo_journal_note(&journal, &self, &largest), 0); /* refused */
    ck_assert_int_eq(undo_journal_note(&journal, &self, &usual), 0);
    ck_assert_int_eq(fstat(journal.fd, &then), 0);
    ck_assert_int_eq(then.st_size, first.st_size);
    ck_assert_int_gt(pread(journal.fd, text, sizeof text - 1, 0), 0);
    ck_assert_msg(strstr(text, "give 0000000000004000000 0000000000040000000 9223372036854775807 9223372036854775807 ") != NULL, "%s",
                  text);
    undo_journal_remove(&journal);
    thread_ref_close(&self.thread);
}
END_TEST

/* Lines of other programs, of a hostile user, and torn ones. */
START_TEST(nonsense_in_a_journal_is_ignored)
{
    static const char nonsense[] = "give\ngive 1 1\ngive -5 7 1 0 0 0\nhello\n\ngive 4 40 0 0 99999999 99999999 1 1 1 77 1 -4 0\n"
                                   "give 4 40 0 0 -5 7 1 1 1 0 0 0 0\ngive 4 40 0 0 1 1 1 0 0";
    struct undo_journal journal;
    ck_assert_int_eq(undo_journal_create(&journal), 0);
    ck_assert_int_eq(write(journal.fd, nonsense, sizeof nonsense - 1), sizeof nonsense - 1);
    ck_assert_int_eq(undo_journal_undo(&journal), 0);
    undo_journal_remove(&journal);
}
END_TEST

START_TEST(repair_takes_journals_of_killed_programs_only)
{
    struct undo_journal mine;
    int ends[2], journals;
    char path[UNDO_PATH_SIZE];
    ck_assert_int_eq(undo_journal_create(&mine), 0);
    ck_assert_int_eq(pipe(ends), 0);
    const pid_t child = fork();
    if (!child) {
        struct undo_journal its;
        if (!undo_journal_create(&its))
            (void)!write(ends[1], its.path, sizeof its.path);
        pause();
    }
    ck_assert_int_eq(read(ends[0], path, sizeof path), sizeof path);
    ck_assert_int_ge(undo_journals_repair(&journals), 0);
    ck_assert_int_eq(access(path, F_OK), 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    ck_assert_int_ge(undo_journals_left(), 1);
    ck_assert_int_eq(access(path, F_OK), 0);
    ck_assert_int_ge(undo_journals_repair(&journals), 0);
    ck_assert_int_ge(journals, 1);
    ck_assert_int_eq(access(path, F_OK), -1);
    ck_assert_int_eq(access(mine.path, F_OK), 0);
    undo_journal_remove(&mine);
}
END_TEST

START_TEST(reference_ends_with_its_thread)
{
    const pid_t child = fork();
    if (!child) {
        pause();
        _exit(0);
    }
    struct undo_entry entry = entry_of(child);
    ck_assert_int_eq(thread_ref_check(&entry.thread), 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    ck_assert_int_eq(thread_ref_check(&entry.thread), -ESRCH);
    ck_assert_int_eq(undo_restore(&entry), 0);
    thread_ref_close(&entry.thread);
    struct thread_ref none;
    ck_assert_int_eq(thread_ref_open(&none, child, child), -ESRCH);
}
END_TEST

/* A zombie has an id and a start time, but nothing to change. */
START_TEST(reference_to_a_process_that_nobody_has_waited_for_is_invalid)
{
    struct thread_ref ref;
    siginfo_t ended;
    const pid_t child = fork();
    if (!child)
        _exit(0);
    ck_assert_int_eq(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
    ck_assert_int_eq(thread_ref_open(&ref, child, child), -ESRCH);
    waitpid(child, NULL, 0);
}
END_TEST

/* The kernel shows a name as it is, so that one with a line break looks like the end of the line. */
START_TEST(reference_is_valid_whatever_the_name_is)
{
    static const char *const names[] = {"a\nb", ") Z 1", "\n) X\n", "a b(c"};
    char before[THREAD_NAME_SIZE];
    prctl(PR_GET_NAME, before);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        prctl(PR_SET_NAME, names[i]);
        struct undo_entry self = entry_of(getpid());
        ck_assert_int_eq(thread_ref_check(&self.thread), 0);
        thread_ref_close(&self.thread);
    }
    prctl(PR_SET_NAME, before);
}
END_TEST

START_TEST(name_cannot_command_a_terminal)
{
    char before[THREAD_NAME_SIZE], name[THREAD_NAME_SIZE];
    prctl(PR_GET_NAME, before);
    prctl(PR_SET_NAME, "\033[2Ja\nb\tc\x9b\x7f d~");
    thread_list_name(getpid(), getpid(), name);
    prctl(PR_SET_NAME, before);
    ck_assert_str_eq(name, "?[2Ja?b?c?? d~");
}
END_TEST

START_TEST(own_processes_may_be_changed_and_missing_ones_not)
{
    ck_assert(thread_ref_may_change(getpid()));
    if (geteuid()) {
        ck_assert(!thread_ref_may_change(1));
        ck_assert(!thread_ref_may_change(0x3ffffff0));
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        journal_is_a_file_of_the_user_alone,
        thread_without_a_reservation_is_left_alone,
        changed_reservation_takes_the_place_of_the_older_one,
        nonsense_in_a_journal_is_ignored,
        repair_takes_journals_of_killed_programs_only,
        reference_ends_with_its_thread,
        reference_to_a_process_that_nobody_has_waited_for_is_invalid,
        reference_is_valid_whatever_the_name_is,
        name_cannot_command_a_terminal,
        own_processes_may_be_changed_and_missing_ones_not,
        NULL,
    };
    return suite_run("undo_journal", 30, tests);
}
