/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process that gives all members back if the dispatcher ends for any reason, SIGKILL included. If that was not by
 * dwcs_guard_end, it also ends the members that are the dispatcher's commands. It sleeps until then. A terminal's signals do not
 * reach it. If both are killed, dwcs_guard_repair gives all back; commands run on then.
 *
 * Nothing in the journal that serves this is trusted: a forged one can only put main threads of the same user that have SCHED_FIFO or
 * SCHED_IDLE under an ordinary policy, and let threads of theirs that are kept on one CPU run on others.
 */
#ifndef SCHED_DWCS_GUARD_H
#define SCHED_DWCS_GUARD_H

#include "member_before.h"
#include "undo_journal.h"

enum { GUARD_CAPACITY = 64 };

struct guard_list; /* shared by both processes */

/* Begins as zero. */
struct dwcs_guard {
    struct guard_list *list;
    struct undo_journal journal;
    pid_t pid;
    int pidfd; /* readable when it has ended */
    int pipe; /* its other end, in the guard, is closed with it */
};

/*
 * Starts the guard, with this SCHED_FIFO priority above that of members, so that they cannot keep it from running. The caller has
 * one thread. Returns 0 or a negative errno: -EPERM (priority), -EACCES (no journal can be written), -ENOSPC.
 */
int dwcs_guard_start(struct dwcs_guard *guard, int priority);

/*
 * Reads what a process had into memory that the guard sees, until dwcs_guard_end. Returns 0, -ENOSPC or as member_before_read. The
 * guard does not give it back yet.
 */
int dwcs_guard_read(struct dwcs_guard *guard, pid_t process, int cpu, int priority, struct member_before **before);

/*
 * The guard gives the process back that was read last. Call it before its policy or CPU is changed. is_command: it is the shell of a
 * process group (command_group.h), which ends with the dispatcher. Returns 0, or a negative errno if the journal cannot be written; then
 * nothing may be changed.
 */
int dwcs_guard_keep(struct dwcs_guard *guard, bool is_command);

/* The guard forgets the process that was kept last. The caller has given it back. */
void dwcs_guard_drop(struct dwcs_guard *guard);

/* Gives all members back and ends the guard, but no commands. It may be zero. */
void dwcs_guard_end(struct dwcs_guard *guard);

/*
 * Gives everything back that killed dispatchers of this user have left whose guards were killed, too, and removes their journals.
 * Returns the number of processes that were given something back, or the negative errno of the last failure; a journal with a failure
 * stays. *journals becomes the number of journals found. Not thread-safe.
 */
int dwcs_guard_repair(int *journals);

#endif
