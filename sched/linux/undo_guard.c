/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "undo_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* It ends within milliseconds, unless somebody stops it again and again. */
enum { ENDING_POLLS = 2000 };
static const struct timespec ending_pause = {.tv_nsec = 1000000};

/* Ignores what a terminal or a session manager sends to all. */
static void ignore_signals(void)
{
    static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGTSTP};
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        signal(ignored[i], SIG_IGN);
}

/*
 * Closes all files but these two. The standard files become nothing: a reader of the program's output must see its end, which
 * an open file here would hide.
 */
static void let_go_of_files(int one, int other)
{
    const int nothing = open("/dev/null", O_RDWR);
    for (int fd = STDIN_FILENO; nothing >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(nothing, fd);
    const int low = one < other ? one : other, high = one < other ? other : one;
    const unsigned first = STDERR_FILENO + 1;
    if ((unsigned)low > first)
        close_range(first, (unsigned)low - 1, 0);
    if (high > low + 1)
        close_range((unsigned)low + 1, (unsigned)high - 1, 0);
    close_range((unsigned)high + 1, ~0U, 0);
    (void)!chdir("/");
}

_Noreturn static void stand_guard(int pipe, struct undo_journal *journal)
{
    char unused;
    setsid();
    ignore_signals();
    let_go_of_files(pipe, journal->fd);
    prctl(PR_SET_NAME, "dlex-sched-undo");
    while (read(pipe, &unused, 1) < 0 && errno == EINTR)
        ;
    const int undone = undo_journal_undo(journal);
    if (undone >= 0)
        undo_journal_remove(journal);
    _exit(undone < 0);
}

int undo_guard_start(struct undo_guard *guard, struct undo_journal *journal)
{
    int ends[2];
    *guard = (struct undo_guard){.pid = 0};
    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    const pid_t pid = fork();
    if (!pid) {
        close(ends[1]);
        stand_guard(ends[0], journal);
    }
    const int error = pid < 0 ? -errno : 0;
    close(ends[0]);
    if (error)
        close(ends[1]);
    else
        *guard = (struct undo_guard){.pid = pid, .pipe = ends[1]};
    return error;
}

/* Returns true if the guard has ended. Until somebody has waited for it, its id is not given to another process. */
static bool has_ended(pid_t pid)
{
    const pid_t found = waitpid(pid, NULL, WNOHANG);
    return found > 0 || (found < 0 && errno != EINTR);
}

void undo_guard_end(struct undo_guard *guard)
{
    if (!guard->pid)
        return;
    close(guard->pipe);
    for (int i = 0; i < ENDING_POLLS && !has_ended(guard->pid); i++) {
        kill(guard->pid, SIGCONT); /* somebody may have stopped it */
        nanosleep(&ending_pause, NULL);
    }
    if (!has_ended(guard->pid)) {
        kill(guard->pid, SIGKILL); /* the journal stays, and a repair undoes it */
        waitpid(guard->pid, NULL, 0);
    }
    *guard = (struct undo_guard){.pid = 0};
}
