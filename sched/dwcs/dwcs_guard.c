/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dwcs_guard.h"

#include "command_group.h"
#include "member_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct guard_list {
    int is_over; /* atomic: dwcs_guard_end was called */
    int count;   /* atomic: raised when the entry is complete */
    struct member_before before[GUARD_CAPACITY];
    pid_t group[GUARD_CAPACITY]; /* of a command; 0: none */
};

/* What a terminal or a session manager sends to all. */
static void ignore_signals(void)
{
    static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGTSTP};
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        signal(ignored[i], SIG_IGN);
}

static void close_between(int low, int high)
{
    if (low + 1 < high)
        close_range((unsigned)low + 1, (unsigned)high - 1, 0);
}

/* Keeps no files but these two: readers of the dispatcher's output must see its end. */
static void close_files(int one, int other)
{
    const int low = one < other ? one : other, high = one < other ? other : one;
    close_between(-1, low);
    close_between(low, high);
    close_range((unsigned)high + 1, ~0U, 0);
}

static void give_all_back(const struct guard_list *list)
{
    const int count = __atomic_load_n(&list->count, __ATOMIC_ACQUIRE);
    for (int i = 0; i < count; i++)
        member_before_give_back(&list->before[i]);
}

_Noreturn static void stand_guard(struct guard_list *list, struct undo_journal *journal, int pipe)
{
    char unused;
    sigset_t none;
    sigemptyset(&none);
    ignore_signals();
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    close_files(pipe, journal->fd);
    prctl(PR_SET_NAME, "dlex-dwcs-guard");
    while (read(pipe, &unused, 1) < 0 && errno == EINTR)
        ;
    give_all_back(list);
    if (!__atomic_load_n(&list->is_over, __ATOMIC_ACQUIRE)) { /* the dispatcher was killed, so that nothing waits for its commands */
        undo_journal_remove(journal);
        command_groups_end(list->group, __atomic_load_n(&list->count, __ATOMIC_ACQUIRE));
    }
    _exit(0);
}

static void wait_for_end(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

static int start(struct dwcs_guard *guard, int priority)
{
    const struct thread_policy policy = {.kind = THREAD_FIFO, .priority = priority};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    guard->pid = fork();
    if (guard->pid == 0) {
        close(ends[1]);
        stand_guard(guard->list, &guard->journal, ends[0]);
    }
    int error = guard->pid < 0 ? -errno : thread_policy_set(guard->pid, &policy);
    if (!error && (guard->pidfd = (int)syscall(SYS_pidfd_open, guard->pid, 0)) < 0)
        error = -errno;
    close(ends[0]);
    guard->pipe = ends[1];
    if (error) {
        close(ends[1]);
        if (guard->pid > 0)
            wait_for_end(guard->pid);
    }
    return error;
}

int dwcs_guard_start(struct dwcs_guard *guard, int priority)
{
    void *const list = mmap(NULL, sizeof *guard->list, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (list == MAP_FAILED)
        return -errno;
    *guard = (struct dwcs_guard){.list = list};
    int error = undo_journal_create_of(&guard->journal, UNDO_MEMBERS);
    if (error == -EPERM)
        error = -EACCES;
    if (!error)
        error = start(guard, priority);
    if (error) {
        undo_journal_remove(&guard->journal);
        munmap(list, sizeof *guard->list);
        *guard = (struct dwcs_guard){0};
    }
    return error;
}

int dwcs_guard_read(struct dwcs_guard *guard, pid_t process, int cpu, int priority, struct member_before **before)
{
    struct guard_list *const list = guard->list;
    if (list->count == GUARD_CAPACITY)
        return -ENOSPC;
    *before = &list->before[list->count];
    return member_before_read(*before, process, cpu, priority);
}

int dwcs_guard_keep(struct dwcs_guard *guard, bool is_command)
{
    struct guard_list *const list = guard->list;
    const int error = member_journal_note(&guard->journal, &list->before[list->count]);
    if (error)
        return error;
    list->group[list->count] = is_command ? list->before[list->count].main.process : 0;
    __atomic_store_n(&list->count, list->count + 1, __ATOMIC_RELEASE);
    return 0;
}

void dwcs_guard_drop(struct dwcs_guard *guard)
{
    __atomic_store_n(&guard->list->count, guard->list->count - 1, __ATOMIC_RELEASE);
}

void dwcs_guard_end(struct dwcs_guard *guard)
{
    if (!guard->list)
        return;
    __atomic_store_n(&guard->list->is_over, 1, __ATOMIC_RELEASE);
    close(guard->pipe);
    wait_for_end(guard->pid);
    close(guard->pidfd);
    give_all_back(guard->list); /* if the guard was killed */
    undo_journal_remove(&guard->journal);
    munmap(guard->list, sizeof *guard->list);
    *guard = (struct dwcs_guard){0};
}

static int undo(struct undo_journal *journal)
{
    static struct member_before before;
    char *const text = undo_journal_text(journal);
    const char *at = text;
    int count = 0, error = text ? 0 : -errno;
    while (text && member_journal_next(&at, &before)) {
        const int given = member_before_give_back(&before);
        if (given < 0)
            error = given;
        else
            count += given;
    }
    free(text);
    return error ? error : count;
}

int dwcs_guard_repair(int *journals)
{
    return undo_journals_repair_of(UNDO_MEMBERS, undo, journals);
}
