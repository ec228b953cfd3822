/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process that gives all members back if the dispatcher ends for any reason, SIGKILL included. If that was not by
 * dwcs_guard_end, it also ends the members that are the dispatcher's commands. It sleeps until then. A terminal's signals do not
 * reach it.
 */
#ifndef SCHED_DWCS_GUARD_H
#define SCHED_DWCS_GUARD_H

#include "member_before.h"

enum { GUARD_CAPACITY = 64 };

struct guard_list; /* shared by both processes */

/* Begins as zero. */
struct dwcs_guard {
    struct guard_list *list;
    pid_t pid;
    int pipe; /* its other end, in the guard, is closed with it */
};

/*
 * Starts the guard, with this SCHED_FIFO priority above that of members, so that they cannot keep it from running. The caller has
 * one thread. Returns 0 or a negative errno: -EPERM (priority).
 */
int dwcs_guard_start(struct dwcs_guard *guard, int priority);

/*
 * Reads what a process had into memory that the guard sees, until dwcs_guard_end. Returns 0, -ENOSPC or as member_before_read. The
 * guard does not give it back yet.
 */
int dwcs_guard_read(struct dwcs_guard *guard, pid_t process, int cpu, int priority, struct member_before **before);

/*
 * The guard gives the process back that was read last. Call it before its policy or CPU is changed. is_command: it is the shell of a
 * process group (command_group.h), which ends with the dispatcher.
 */
void dwcs_guard_keep(struct dwcs_guard *guard, bool is_command);

/* The guard forgets the process that was kept last. The caller has given it back. */
void dwcs_guard_drop(struct dwcs_guard *guard);

/* Gives all members back and ends the guard, but no commands. It may be zero. */
void dwcs_guard_end(struct dwcs_guard *guard);

#endif
