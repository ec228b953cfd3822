/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the player runs, and under which policy (seed 000, section 8, Table 2).
 *
 * Both are the main thread's, which decodes and presents. All other threads (the feeder, PulseAudio's, SDL's) are under
 * SCHED_OTHER and, when a CPU was asked for, on the other CPUs: a reservation then holds what the paper reserves for, and
 * sound does not starve under it. They are moved, not born there: what the main thread starts begins on its CPU.
 */
#ifndef PLAYER_PLACEMENT_H
#define PLAYER_PLACEMENT_H

#include "thread_policy.h"

#include <sched.h>
#include <stdbool.h>

enum { PLACEMENT_THREADS_MAX = 16 };

/* What the user asked for. Neither: everything stays as it was found. */
struct placement {
    bool has_policy;
    struct thread_policy policy;
    int cpu;          /* -1: none was named */
    cpu_set_t others; /* filled in by placement_prepare: where the other threads go */
};

/* What became of it, as the kernel tells. The first thread is main. */
struct placement_facts {
    int thread_count;
    struct thread_facts {
        char name[16];
        char policy[THREAD_POLICY_TEXT_SIZE];
        char cpus[64]; /* "0-2,5" */
    } threads[PLACEMENT_THREADS_MAX];
};

/*
 * Once, before SDL and before other threads exist: sees that there is such a CPU, and has SDL draw by its software renderer
 * unless SDL_RENDER_DRIVER says otherwise (its GL driver starts threads that draw outside the policy). Main thread.
 * Returns 0, or a negative errno after logging why.
 */
int placement_prepare(struct placement *placement);

/*
 * Puts main and all other threads in their places. After each start of threads; main thread. Does nothing where nothing
 * was asked for, but tells the facts then too. Returns 0, or a negative errno after logging why.
 */
int placement_apply(const struct placement *placement, struct placement_facts *facts);

/*
 * Takes the main thread out of the policy and off the CPU that were asked for, because playing has ended: writing a record
 * is not part of what they are there for. placement_apply puts it back for the next file. Main thread; cannot fail: where
 * the thread must stay on that CPU, it stays there under SCHED_OTHER.
 */
void placement_leave(const struct placement *placement);

#endif
