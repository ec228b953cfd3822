/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Watches for limits of real-time CPU time (rt_limit.h) that a program sets while it runs. */
#ifndef SCHED_RT_LIMIT_WATCH_H
#define SCHED_RT_LIMIT_WATCH_H

/*
 * Starts a process that lifts the limits which this process and its descendants set later, also after this one has become another
 * program by exec, and writes a sentence about each to standard error. Where it may not lift a limit, it gives the process's threads
 * under SCHED_FIFO an ordinary policy, so that the kernel does not kill them. It is no child of this process, and ends with it. It has
 * the rights that this process has now, and takes the highest fixed priority that it may have. Returns 0 or a negative errno.
 */
int rt_limit_watch(const char *program);

#endif
