/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process that gives all members back if the dispatcher ends in whatever way, SIGKILL included. It sleeps until then. A
 * terminal's signals do not reach it.
 */
#ifndef SCHED_DWCS_GUARD_H
#define SCHED_DWCS_GUARD_H

#include "dwcs_member.h"

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
 * one thread. Returns 0 or a negative errno.
 */
int dwcs_guard_start(struct dwcs_guard *guard, int priority);

/* Call it before a member's policy or CPU is changed. Returns 0 or -ENOSPC. */
int dwcs_guard_add(struct dwcs_guard *guard, const struct member_identity *identity);

/* Gives all members back and ends the guard. It may be zero. */
void dwcs_guard_end(struct dwcs_guard *guard);

#endif
