/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Instances of PMan's processes, for the services. Nothing here checks names or lists of actions that are too long. */
#ifndef SCHED_PMAN_RELEASE_H
#define SCHED_PMAN_RELEASE_H

#include "pman.h"

#include <stdbool.h>

static inline uint64_t pman_bit(int index)
{
    return UINT64_C(1) << index;
}

/* True if an instance is blocked, waiting or running. */
bool pman_is_unfinished(const struct pman_process *process);

/* Adds an action for a process. */
struct pman_action *pman_act(const struct pman *table, struct pman_out *out, enum pman_action_kind kind, int index);

/*
 * Marks a process as due in this tick. Its previous instance must have finished. Call pman_block after all processes of the
 * tick are marked.
 */
void pman_activate(struct pman_process *process, int64_t tick, int64_t now_ns);

/* Sets what the instance waits for. */
void pman_block(struct pman *table, int index);

/* Looks at the deadlines of the running instances: misses are counted, recovery processes are activated. */
void pman_find_misses(struct pman *table, int64_t now_ns, struct pman_out *out);

/* As pman_find_misses, for one process. */
void pman_find_miss(struct pman *table, int index, int64_t now_ns, struct pman_out *out);

/* An instance waits for this predecessor no longer. */
void pman_stop_waiting(struct pman_process *process, int predecessor, int64_t now_ns);

/* An unfinished instance has finished, or there never will be an epilogue: the process has this status, nobody waits for it. */
void pman_finish(struct pman *table, int index, enum pman_status status, int64_t now_ns);

/* Adds the release of an instance. */
void pman_list_release(const struct pman *table, int index, struct pman_out *out);

/* Releases all that nothing holds back, in their order. Each service that may have changed that ends with it. */
void pman_release_ready(struct pman *table, int64_t now_ns, struct pman_out *out);

#endif
