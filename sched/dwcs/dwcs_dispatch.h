/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A dispatcher of DWCS and event scheduling over SCHED_FIFO (seed 001): for processes that the user names, and for no others.
 *
 * The dispatcher decides at the beginning of each slot. The chosen member gets SCHED_FIFO, and the one before loses it: at most
 * two changes of policy a slot. If there was none at its beginning, the first event in the slot makes the dispatcher decide again;
 * other events wait for the next slot, at most four of each member. When the chosen one sleeps, Linux decides among the rest until
 * the next decision; that time counts for those who get it. Whether a member can run is seen at decisions only, as at the timer
 * interrupts of the seed's Linux. What the dispatcher itself and interrupts take from the chosen one's slot counts as service of
 * the chosen one, so that C can be given in slots.
 *
 * The kernel keeps some of the CPU for ordinary threads (5 %; see sched_rt_runtime_us in sched(7)). If these get less, it stops all
 * real-time threads, also the dispatcher, for some 45 ms in one piece. With leave_ns, the dispatcher gives ordinary threads that time
 * itself: at the end of each slot no member has SCHED_FIFO. This time counts as service, too. One policy then changes at the beginning
 * of a slot and one at its end; if the dispatcher is too late for the end, that one changes in the next slot.
 *
 * All members are kept on the dispatcher's CPU. They get everything back as it was when the dispatcher ends for any reason
 * (member_before.h, dwcs_guard.h). Processes under a real-time policy are no members: what they have could not be given back. If another
 * program changes a member's policy, the member keeps that one, and its turns pass like those of a member that sleeps.
 *
 * For one thread. Needs the right to SCHED_FIFO. Times are CLOCK_MONOTONIC.
 */
#ifndef SCHED_DWCS_DISPATCH_H
#define SCHED_DWCS_DISPATCH_H

#include "dwcs_guard.h"
#include "dwcs_member.h"
#include "dwcs_server.h"
#include "event_rules.h"
#include "event_source.h"

struct dispatch_plan {
    bool is_best_effort;
    bool is_command;               /* it leads a process group, which ends if the dispatcher is killed */
    struct dwcs_params params;     /* of a real-time member */
    enum event_source_kind events;
    int event_file;                /* as for event_source_open */
};

/* What became of a member. */
struct dispatch_figures {
    struct dwcs_counts periods;
    int64_t windows_kept, windows_lost; /* of y periods each, one after the other, since it joined */
    int64_t events, swaps;              /* delivered to it; of them, those that made it run instead of another one */
    int64_t cpu_ns;
    int64_t wait_ns;                    /* as of dwcs_member_wait_ns */
    bool has_ended;
};

struct dispatch_totals {
    int64_t slots, lost_slots;          /* lost: the dispatcher was too late for a decision */
    int64_t decisions;                  /* slots and events */
    int64_t policy_changes;
    int64_t late_ns_max;                /* of a decision after the beginning of its slot */
    double utilisation;                 /* the least that the members need */
};

struct dispatch_options {
    int64_t slot_ns;
    int64_t leave_ns;                   /* at the end of each slot, to ordinary threads; 0 to slot_ns / 2 */
    unsigned rules;                     /* enum event_rules */
    const struct dwcs_server_options *server; /* NULL: no task server. The caller's */
    int cpu;
    int priority;                       /* of the dispatcher; members have the one below, the guard the one above: 2 to 98 */
};

struct dwcs_dispatch;

/*
 * Starts the guard, and gives the calling process its priority and CPU. The caller has one thread. Returns 0 or a negative errno
 * with nothing to destroy: -EPERM (priority), -EBUSY (the caller has a real-time policy already), -EINVAL (options, or no such CPU),
 * -EACCES (no journal can be written).
 */
int dwcs_dispatch_create(struct dwcs_dispatch **dispatch, const struct dispatch_options *options);

/*
 * Adds a process. Returns its number, from 0 on, or a negative errno: -EINVAL (plan, or it may not run on this CPU), -ESRCH, -EBADF
 * (socket), -EEXIST (it is a member already), -EBUSY (its main thread has a real-time policy), -E2BIG (too many threads), -ENOSPC,
 * -EPERM.
 */
int dwcs_dispatch_add(struct dwcs_dispatch *dispatch, pid_t pid, const struct dispatch_plan *plan);

/* All periods and the slots begin now. Call it once, when all are there that shall begin together. Returns 0 or -EINVAL. */
int dwcs_dispatch_begin(struct dwcs_dispatch *dispatch);

/*
 * Waits for the next slot, an event or the end of a member, and decides. Also returns when the slot is left to ordinary threads, and
 * when other_file (-1: none) is readable.
 * Returns how many members live, or a negative errno, after which it cannot go on: -EOWNERDEAD if the guard was killed.
 */
int dwcs_dispatch_step(struct dwcs_dispatch *dispatch, int other_file);

/* Of a member that has ended, the last ones. */
struct dispatch_figures dwcs_dispatch_figures(struct dwcs_dispatch *dispatch, int number);

/* True if another program has changed the policy of this member. */
bool dwcs_dispatch_is_left_alone(const struct dwcs_dispatch *dispatch, int number);
struct dispatch_totals dwcs_dispatch_totals(const struct dwcs_dispatch *dispatch);

/* Gives all members and the calling process back. Only the figures are left then. */
void dwcs_dispatch_end(struct dwcs_dispatch *dispatch);

/* Ends, if that has not happened yet, and clears *dispatch, which may be NULL already. */
void dwcs_dispatch_destroy(struct dwcs_dispatch **dispatch);

#endif
