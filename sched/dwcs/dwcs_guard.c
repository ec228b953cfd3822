/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dwcs_guard.h"

#include "command_group.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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

/* Keeps no file but the pipe: readers of the dispatcher's output must see its end. */
static void close_files(int pipe)
{
    if (pipe > 0)
        close_range(0, (unsigned)pipe - 1, 0);
    close_range((unsigned)pipe + 1, ~0U, 0);
}

static void give_all_back(const struct guard_list *list)
{
    const int count = __atomic_load_n(&list->count, __ATOMIC_ACQUIRE);
    for (int i = 0; i < count; i++)
        member_before_give_back(&list->before[i]);
}

/* The dispatcher was killed, so that nothing waits for its commands. */
static void end_commands(struct guard_list *list)
{
    if (!__atomic_load_n(&list->is_over, __ATOMIC_ACQUIRE))
        command_groups_end(list->group, __atomic_load_n(&list->count, __ATOMIC_ACQUIRE));
}

_Noreturn static void stand_guard(struct guard_list *list, int pipe)
{
    char unused;
    sigset_t none;
    sigemptyset(&none);
    ignore_signals();
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    close_files(pipe);
    prctl(PR_SET_NAME, "dlex-dwcs-guard");
    while (read(pipe, &unused, 1) < 0 && errno == EINTR)
        ;
    give_all_back(list);
    end_commands(list);
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
        stand_guard(guard->list, ends[0]);
    }
    const int error = guard->pid < 0 ? -errno : thread_policy_set(guard->pid, &policy);
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
    const int error = start(guard, priority);
    if (error) {
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

void dwcs_guard_keep(struct dwcs_guard *guard, bool is_command)
{
    struct guard_list *const list = guard->list;
    list->group[list->count] = is_command ? list->before[list->count].main.process : 0;
    __atomic_store_n(&list->count, list->count + 1, __ATOMIC_RELEASE);
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
    give_all_back(guard->list); /* if the guard was killed */
    munmap(guard->list, sizeof *guard->list);
    *guard = (struct dwcs_guard){0};
}
