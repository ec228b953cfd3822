/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When a program enters and leaves the kernel: the events of seed 003 (section IV), whose tracer qostrace takes the time of both ends
 * of every system call. Here the kernel's trace points record them (raw_syscalls), for all threads, and the program is not stopped.
 * An event costs it some 0.2 us. Only root may read which trace points there are. Not thread-safe.
 *
 *     struct syscall_watch *watch;
 *     if (syscall_watch_create(&watch, pid) == 0) {
 *         while (syscall_watch_poll(watch) > 0 && ...)
 *             ... sleep 50 ms ...
 *         const struct syscall_event *events;
 *         const int64_t count = syscall_watch_events(watch, from_ns, &events);
 *         syscall_watch_destroy(&watch);
 *     }
 */
#ifndef SCHED_SYSCALL_WATCH_H
#define SCHED_SYSCALL_WATCH_H

#include <stdint.h>
#include <sys/types.h>

struct syscall_watch;

struct syscall_event {
    int64_t time_ns; /* CLOCK_MONOTONIC */
    pid_t thread;
};

/*
 * Begins to watch a process. The caller owns *watch after success, and nothing after an error. Returns 0 or a negative errno, which
 * syscall_watch_remedy explains; -ESRCH: there is no such process.
 */
int syscall_watch_create(struct syscall_watch **watch, pid_t process);

/* Watches the descendants of the process, too, from the next poll on. */
void syscall_watch_family(struct syscall_watch *watch);

/*
 * Collects what has happened; call it 20 times a second. Threads that have started since the last call are found. Returns the number
 * of threads that are watched; 0 if the process has ended. Never blocks.
 */
int syscall_watch_poll(struct syscall_watch *watch);

/*
 * Returns how many events there were from from_ns on. *events are the watch's until the next call; those of one thread are in the
 * order of time.
 */
int64_t syscall_watch_events(struct syscall_watch *watch, int64_t from_ns, const struct syscall_event **events);

/* Returns how many events did not fit into the rings, or into memory. */
int64_t syscall_watch_lost(const struct syscall_watch *watch);

/* Ends the watch and clears *watch, which may be NULL already. */
void syscall_watch_destroy(struct syscall_watch **watch);

enum { SYSCALL_WATCH_REMEDY_SIZE = 256 };

/* Writes one sentence about an error of syscall_watch_create, with what would help, and returns it. */
const char *syscall_watch_remedy(int error, char text[SYSCALL_WATCH_REMEDY_SIZE]);

#endif
