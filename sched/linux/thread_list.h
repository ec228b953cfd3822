/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The threads of a process, and its descendants, as /proc lists them. */
#ifndef SCHED_THREAD_LIST_H
#define SCHED_THREAD_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { THREAD_NAME_SIZE = 16 }; /* the kernel's limit, with the final 0 */

/*
 * Lists the threads of a process, at most `most` of them. Returns their number, or -ESRCH if the process does not exist, or
 * another negative errno.
 */
int thread_list(pid_t process, pid_t *threads, int most);

/*
 * Lists a process and all its descendants, at most `most` of them, the process itself first. It needs some 10 us for each of
 * their threads. Descendants whose parent has ended belong to another family and are not found, and the calling process is
 * none. Returns their number, at least 1; 1 also if the kernel does not list children (CONFIG_PROC_CHILDREN).
 */
int thread_list_family(pid_t process, pid_t *processes, int most);

/* Returns the process that a thread belongs to, which is the thread's own id for the first one; 0 if there is no such thread. */
pid_t thread_list_process(pid_t thread);

/*
 * Reads a thread's name and returns it; "?" if the thread is gone. A program names its threads as it likes, and a name could command
 * the terminal that shows it: what is not printable ASCII becomes "?".
 */
const char *thread_list_name(pid_t process, pid_t thread, char name[THREAD_NAME_SIZE]);

/*
 * Reads for how long a thread has run, and for how long it could have run but had no CPU. The time for which a used-up budget
 * keeps it from running is in neither. Returns false if the thread is gone, or if the kernel does not say it.
 */
bool thread_list_times(pid_t process, pid_t thread, int64_t *running_ns, int64_t *waiting_ns);

#endif
