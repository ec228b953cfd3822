/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a process had before it became a member, and the way back: the policy of its main thread, and the CPUs of each thread. It
 * holds no open files and no pointers, because two processes give back: the dispatcher, and its guard if the dispatcher was killed.
 * It may be given back several times. A thread that has ended, another one that has its id by now, and what another program has
 * changed meanwhile stay as they are; so does the timer slack of what the member has started, which the kernel chooses.
 *
 * Other threads than the main one keep their policies all the time. Threads and children that a member starts inherit the CPU, and
 * perhaps SCHED_IDLE; they get what the main thread had. Children whose parent has ended are not found. Under a user without
 * CAP_SYS_NICE the main thread keeps SCHED_RESET_ON_FORK, which comes with SCHED_FIFO.
 *
 *     struct member_before before;
 *     if (member_before_read(&before, pid, cpu, priority) == 0) {
 *         ... the guard takes note of it ...
 *         member_before_confine(&before, journal);
 *         ... SCHED_FIFO and SCHED_IDLE for the main thread ...
 *         member_before_give_back(&before);
 *     }
 */
#ifndef SCHED_MEMBER_BEFORE_H
#define SCHED_MEMBER_BEFORE_H

#include "thread_policy.h"
#include "thread_ref.h"

#include <sched.h>

struct undo_journal;

enum { MEMBER_THREADS = 512 };

/* Where a thread might run. The reference is closed. */
struct thread_before {
    struct thread_ref thread;
    cpu_set_t cpus;
};

struct member_before {
    struct thread_ref main;        /* closed */
    struct thread_ordinary policy; /* of the main thread */
    cpu_set_t cpus;                /* of the main thread */
    int nice;                      /* of the main thread */
    int64_t timer_slack_ns;        /* of the main thread; 0: not known */
    bool is_left_alone;            /* atomic: another program has changed the policy of the main thread, which stays */
    uint64_t joined_ticks;         /* when this was read, as started_ticks of a thread */
    bool is_recorded;              /* read from a journal: only processes that are wholly this user's are changed */
    int cpu, priority;             /* what it is given: this CPU, and this priority of SCHED_FIFO at times */
    int threads;                   /* atomic: raised when the entry is complete, before the thread is changed */
    struct thread_before thread[MEMBER_THREADS]; /* those that are kept on the CPU */
};

/*
 * Reads what a process has. Changes nothing. Returns 0, -ESRCH, -EBUSY (its main thread has a real-time policy or a reservation,
 * which would be lost), -EPERM (it is another user's), -EMFILE or another negative errno.
 */
int member_before_read(struct member_before *before, pid_t process, int cpu, int priority);

/*
 * Keeps all threads of the process on the CPU, also those that it starts later. Each is recorded in the journal before; NULL: there is
 * none. Returns 0, -EINVAL (it may not run there), -E2BIG (it has more than MEMBER_THREADS threads), -ESRCH or another negative errno.
 * After an error some threads may be confined: give back.
 */
int member_before_confine(struct member_before *before, const struct undo_journal *journal);

/*
 * Gives everything back. Returns 1, 0 if there was nothing to give back, or the negative errno of the last failure, such as -EPERM; the
 * rest is given back then.
 */
int member_before_give_back(const struct member_before *before);

/* The main thread keeps the policy that it has from now on. */
void member_before_leave_alone(struct member_before *before);

#endif
