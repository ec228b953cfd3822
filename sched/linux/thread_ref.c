/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "thread_ref.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    PATH_SIZE = 64,
    STAT_SIZE = 512,
    PIDFD_OF_THREAD = O_EXCL, /* PIDFD_THREAD; older headers do not have it */
    FIELD_STATE = 3, FIELD_STARTED = 22, FIELD_STACK = 28, /* of /proc/PID/stat, see proc(5) */
};

/* Returns the place of a field after the name, which may itself contain blanks and parentheses; NULL if there is none. */
static const char *field_of(const char *stat, int number)
{
    const char *at = strrchr(stat, ')');
    for (int field = 2; at && field < number; field++)
        at = strchr(at + 1, ' ');
    return at ? at + 1 : NULL;
}

/*
 * Reads a thread's line in /proc. Its name, which the thread chooses, may contain line breaks. Returns 0, -ESRCH if
 * it is gone, or why no file can be opened: then it may still be there.
 */
static int read_stat(pid_t process, pid_t thread, char stat[STAT_SIZE])
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)process, (int)thread);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : -ESRCH;
    const ssize_t size = read(file, stat, STAT_SIZE - 1);
    close(file);
    if (size <= 0)
        return -ESRCH;
    stat[size] = '\0';
    return 0;
}

/* Returns a number of such a line; 0 if there is none. */
static uint64_t number_in(const char *stat, int field)
{
    const char *const at = field_of(stat, field);
    return at ? strtoull(at, NULL, 10) : 0;
}

/* Reads when a thread started. Returns 0, -ESRCH if it has ended, or another error of read_stat. */
static int read_started(pid_t process, pid_t thread, uint64_t *ticks)
{
    char stat[STAT_SIZE];
    const int error = read_stat(process, thread, stat);
    if (error)
        return error;
    const char *const state = field_of(stat, FIELD_STATE);
    if (!state || *state == 'Z' || *state == 'X' || !field_of(stat, FIELD_STARTED))
        return -ESRCH;
    *ticks = number_in(stat, FIELD_STARTED);
    return 0;
}

/* Reads what distinguishes the program that a process runs from another one that it executes later. */
static void read_program(struct thread_ref *ref)
{
    char stat[STAT_SIZE];
    if (read_stat(ref->process, ref->process, stat))
        return;
    ref->process_started_ticks = number_in(stat, FIELD_STARTED);
    ref->stack = number_in(stat, FIELD_STACK);
}

static int pidfd_open_of(pid_t process, pid_t thread)
{
    const int fd = (int)syscall(SYS_pidfd_open, thread, PIDFD_OF_THREAD);
    if (fd >= 0 || errno != EINVAL)
        return fd;
    return (int)syscall(SYS_pidfd_open, process, 0);
}

int thread_ref_open(struct thread_ref *ref, pid_t process, pid_t thread)
{
    *ref = (struct thread_ref){.process = process, .thread = thread};
    const int fd = pidfd_open_of(process, thread);
    if (fd < 0)
        return errno == EINVAL || errno == ENOENT ? -ESRCH : -errno; /* the process id is by now that of a thread */
    /* Read after the descriptor was opened: the descriptor may only refer to the thread of this time. */
    const int error = read_started(process, thread, &ref->started_ticks);
    if (error) {
        close(fd);
        return error;
    }
    read_program(ref);
    ref->pidfd = fd;
    return 0;
}

int thread_ref_open_after_exec(struct thread_ref *after, const struct thread_ref *before)
{
    *after = (struct thread_ref){.process = before->process, .thread = before->process};
    if (before->thread == before->process || !before->stack)
        return -ESRCH;
    const int error = thread_ref_open(after, before->process, before->process);
    if (error)
        return error;
    /* The kernel does not show the stack of a program of another user's, which only exec (setuid) can have brought here. */
    const bool is_other = after->stack ? after->stack != before->stack : !thread_ref_may_change(after->process);
    if (after->started_ticks == before->process_started_ticks && is_other)
        return 0;
    thread_ref_close(after);
    return -ESRCH;
}

int thread_ref_check(const struct thread_ref *ref)
{
    struct pollfd ended = {.fd = ref->pidfd, .events = POLLIN};
    uint64_t ticks;
    if (!ref->pidfd || poll(&ended, 1, 0) > 0)
        return -ESRCH;
    const int error = read_started(ref->process, ref->thread, &ticks);
    return error ? error : ticks == ref->started_ticks ? 0 : -ESRCH;
}

void thread_ref_close(struct thread_ref *ref)
{
    if (ref->pidfd)
        close(ref->pidfd);
    ref->pidfd = 0;
}

bool thread_ref_may_change(pid_t process)
{
    char path[PATH_SIZE], line[STAT_SIZE];
    unsigned real, effective, saved, file;
    bool is_own = false;
    if (!geteuid())
        return true;
    snprintf(path, sizeof path, "/proc/%d/status", (int)process);
    FILE *const status = fopen(path, "re");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "Uid: %u %u %u %u", &real, &effective, &saved, &file) == 4)
            is_own = real == getuid() && effective == getuid() && saved == getuid();
    if (status)
        fclose(status);
    return is_own;
}
