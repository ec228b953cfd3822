/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Instances of PMan's processes, for the calls of pman_table.h. Nothing here checks names or lists that are too long. */
#ifndef SCHED_PMAN_RELEASE_H
#define SCHED_PMAN_RELEASE_H

#include "pman_table.h"

#include <stdbool.h>

static inline uint64_t pman_bit(int index)
{
    return UINT64_C(1) << index;
}

/* True if an instance is blocked, waiting or running. */
bool pman_is_unfinished(const struct pman_process *process);

/* Adds an action for a process. */
struct pman_action *pman_act(const struct pman_table *table, struct pman_out *out, enum pman_action_kind kind, int index);

/*
 * Marks a process as due at the tick's time; `activated` as in pman_process. Its previous instance must have finished. Call
 * pman_block after all processes of the tick are marked.
 */
void pman_activate(struct pman_process *process, int64_t activated, int64_t tick_ns);

/* Sets what the instance waits for. */
void pman_block(struct pman_table *table, int index);

/* Looks at the deadlines of the running instances: misses are counted, recovery processes are activated. */
void pman_find_misses(struct pman_table *table, int64_t now_ns, struct pman_out *out);

/* As pman_find_misses, for one process. */
void pman_find_miss(struct pman_table *table, int index, int64_t now_ns, struct pman_out *out);

/* An instance waits for this predecessor no longer. */
void pman_stop_waiting(struct pman_process *process, int predecessor, int64_t now_ns);

/* The instance, if there is an unfinished one, is over: the process has this status, and nobody waits for it. */
void pman_end_instance(struct pman_table *table, int index, enum pman_status status, int64_t now_ns);

/* Adds the release of an instance. */
void pman_list_release(const struct pman_table *table, int index, struct pman_out *out);

/* Releases all that nothing holds back, in their order. Each service that may have changed that ends with it. */
void pman_release_ready(struct pman_table *table, int64_t now_ns, struct pman_out *out);

#endif
