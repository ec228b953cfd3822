/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process that DWCS schedules: whether it can run, how much CPU time it has used, and its scheduling policy. The policy is
 * that of the main thread, which is the one that decodes and shows in a player; CPU time is that of all threads.
 *
 * A member has SCHED_FIFO while it is the chosen one. Otherwise it has the ordinary policy that it had before; if it must not have
 * more than its service, it has SCHED_IDLE, so that it only gets what no other thread wants. Needs the right to such priorities. A user
 * who has it by RLIMIT_RTPRIO alone could not take a process out of SCHED_IDLE again; for such a user all are ordinary processes.
 */
#ifndef SCHED_DWCS_MEMBER_H
#define SCHED_DWCS_MEMBER_H

#include "member_before.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum member_place { MEMBER_ORDINARY, MEMBER_LAST, MEMBER_FIRST }; /* its own policy, SCHED_IDLE, SCHED_FIFO */

struct dwcs_member {
    struct member_before *before;
    pid_t pid;
    int pidfd;          /* readable when it has ended */
    int stat;           /* /proc/PID/stat */
    int status;         /* /proc/PID/status */
    int schedstat;      /* /proc/PID/schedstat, of the main thread; -1: the kernel has none */
    clockid_t clock;    /* its CPU time */
    int64_t cpu_ns;     /* at the last call of dwcs_member_ran_ns */
    int64_t begun_cpu_ns;
    int64_t begun_wait_ns, begun_waits; /* of the kernel's statistics, when it joined */
    int64_t wait_ns;    /* at the last call of dwcs_member_wait_ns that could read it; -1: none */
    enum member_place place;
    bool is_left_alone; /* another program has changed its policy */
    bool keeps_slack;   /* the kernel does not take away its timer slack, or not another one than it gives */
};

/*
 * Refers to the process of which this was read; it stays the caller's. Returns 0, -ESRCH, -ENOSYS (older than Linux 5.3) or -EMFILE.
 * Close it after success.
 */
int dwcs_member_open(struct dwcs_member *member, struct member_before *before);

void dwcs_member_close(struct dwcs_member *member);

/* True if this user may take a process out of SCHED_IDLE. Tries it with a process of its own; the caller has one thread. */
bool dwcs_member_can_be_last(void);

/* True if its main thread runs or could run. */
bool dwcs_member_is_runnable(const struct dwcs_member *member);

/* Returns how often its main thread has gone to sleep so far; -1: unknown. */
int64_t dwcs_member_sleeps(const struct dwcs_member *member);

/* Returns the CPU time that it has used since the last call; 0 if it has ended. */
int64_t dwcs_member_ran_ns(struct dwcs_member *member);

/* The CPU time that it has used since it joined, as of the last dwcs_member_ran_ns. */
int64_t dwcs_member_cpu_ns(const struct dwcs_member *member);

/*
 * Changes its policy, if it is another one. If another program has changed the policy since the last call, the member is left alone from
 * then on. Returns 1, 0 if nothing was changed, or a negative errno (-EPERM, -ESRCH).
 */
int dwcs_member_put(struct dwcs_member *member, enum member_place place);

/*
 * Returns the mean time that the main thread has waited for the CPU since it joined, after a wake-up or a preemption, by the
 * kernel's statistics (schedstat); -1: the kernel has none, or it has not run. The kernel forgets them when the process has ended
 * and its parent has looked; then this returns what it returned last.
 */
int64_t dwcs_member_wait_ns(struct dwcs_member *member);

#endif
