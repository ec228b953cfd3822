/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the player runs, and under which policy (seed 000, section 8, Table 2).
 *
 * CPU and policy apply to the playing threads: those with the roles decode or present (thread_role.h). All other
 * threads (the feeder, PulseAudio's, SDL's) are under SCHED_OTHER and, when a CPU was requested, on the other CPUs. A
 * reservation then holds only the work that the paper reserves for, and sound does not starve. The other threads are
 * moved after their start, because a thread begins on the CPU of the thread that starts it. FFmpeg's codec threads have the
 * role decode (helper_threads.h), so they are playing threads too.
 */
#ifndef PLAYER_PLACEMENT_H
#define PLAYER_PLACEMENT_H

#include "rate_priority.h"
#include "thread_policy.h"
#include "thread_role.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

enum { PLACEMENT_THREADS_MAX = 64, PLACEMENT_ROLES = ROLE_DECODE | ROLE_PRESENT };

/*
 * What the user asked for. Without a policy and a CPU, everything stays as it is, with one exception: the presenting
 * thread gets a shorter slice when another thread decodes.
 */
struct placement {
    bool has_policy;
    struct thread_policy policy;
    struct rate_wish rate; /* if asked for, policy is fifo with a priority by the film's rate (placement_join) */
    int cpu;          /* -1: no CPU was requested */
    cpu_set_t others; /* filled in by placement_prepare: where the other threads go */
};

/* The actual policies and CPUs of the threads, as the kernel reports them. The playing threads come first. */
struct placement_facts {
    /* Of a reservation, if one thread decodes and another one presents: the presenting thread's part, which the caller sets first. */
    int64_t presenting_ns;
    bool has_joined; /* placement_join was called for this film */
    bool is_changed; /* since the threads were noted */
    int thread_count;
    struct thread_facts {
        char name[16];
        char roles[THREAD_ROLES_TEXT_SIZE];
        char policy[THREAD_POLICY_TEXT_SIZE];
        int64_t slice_ns; /* under other, since Linux 6.12; otherwise 0 */
        char cpus[64];    /* "0-2,5" */
    } threads[PLACEMENT_THREADS_MAX];
};

/*
 * Call once, before SDL is started and before other threads exist. Checks that the CPU exists. Makes SDL draw with its
 * software renderer unless SDL_RENDER_DRIVER says otherwise, because SDL's GL driver starts threads that draw outside
 * the policy. Main thread. Returns 0, or a negative errno after logging why.
 */
int placement_prepare(struct placement *placement);

/*
 * If a priority by the film's rate was asked for, enters the film with the time from one picture to the next (rate_priority.h), the first
 * time it is called for a film. Call it before each placement_apply. Main thread. Returns 0, or a negative errno after logging why.
 *
 * The thread that presents gets the priority that the registry gives, and so does the one that also decodes. A thread that only
 * decodes ahead is not urgent, because the queue is its slack: it has a priority below all registered ones, and above all ordinary
 * threads.
 */
int placement_join(const struct placement *placement, struct placement_facts *facts, int64_t frame_ns);

/*
 * Enters what was learnt of the CPU time that a picture costs the thread with that priority, which may change the priority. Main thread,
 * after placement_apply. Returns false if it cannot be entered just now: then ask again later.
 */
bool placement_learn_cost(const struct placement *placement, struct placement_facts *facts, const struct rate_cost *cost);

/*
 * Sets the policy and CPUs of the playing threads and of all others. Call it after each start of threads, when they have
 * taken their roles. If others have moved this process in the registry, it gets the priority that it has there now. Main thread.
 * If nothing was requested it changes nothing, but still fills in *facts. Returns 0, or a negative errno after logging
 * why.
 */
int placement_apply(const struct placement *placement, struct placement_facts *facts);

/* Returns whether the requested policy is a reservation, which two threads divide. */
bool placement_is_reservation(const struct placement *placement);

/* Returns whether a priority under fifo or rr was asked for, also one by the film's rate. */
bool placement_has_priority(const struct placement *placement);

/*
 * Gives the presenting thread another part of the reservation's budget, and the decode thread the rest. Both together never have more
 * than was requested. Main thread, after placement_apply. Returns 0, or a negative errno; then the division stays as it was, as far as
 * the kernel permits it.
 */
int placement_divide(const struct placement *placement, struct placement_facts *facts, int64_t presenting_ns);

/* Notes the threads again if they were changed since placement_apply. Main thread. */
void placement_note_again(const struct placement *placement, struct placement_facts *facts);

/*
 * Takes the playing threads out of the requested policy and off the requested CPU. Call it when playing has ended,
 * because policy and CPU are not meant for writing a record. placement_apply restores them for the next file. Main
 * thread. Cannot fail: if a thread must stay on that CPU, it stays there under SCHED_OTHER.
 */
void placement_leave(const struct placement *placement);

#endif
