/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One change of a table in shared memory, and everything that follows from it: priorities are set, processes are activated, the
 * manager is woken, the log is written.
 *
 *     struct pman_change change;
 *     int error = pman_change_begin(&change, shared);
 *     if (!error)
 *         error = pman_change_end(&change, pman_table_detach(change.table, name, change.now_ns, &change.out));
 *
 * A caller that is killed in between has changed nothing, or the table has changed and the activations are made up for by the next
 * call of any program.
 */
#ifndef SCHED_PMAN_CHANGE_H
#define SCHED_PMAN_CHANGE_H

#include "pman_shared.h"

struct pman_change {
    struct pman_shared *shared;
    const struct pman_table *before;
    struct pman_table *table;      /* the one to change */
    int64_t now_ns;                /* later than or equal to that of any change before */
    struct pman_out out;           /* for the calls of pman_table.h */
    uint64_t to_wake;              /* processes whose bell has rung, a set of indexes */
    bool must_wake_manager;
    int64_t tick_ns;               /* of the tick that this change is; 0: it is none */
};

/* Locks the table. To close it, set is_closed in the new one. Returns 0, or -ESHUTDOWN with nothing to end. */
int pman_change_begin(struct pman_change *change, struct pman_shared *shared);

/*
 * error: what the calls of pman_table.h have returned. If it is 0, the change holds, unless a priority cannot be set. Returns
 * error, or -EPERM or -ESRCH of a priority.
 */
int pman_change_end(struct pman_change *change, int error);

/* Returns the entries of this process, a set of indexes. An entry of an earlier process with this pid is none of them. */
uint64_t pman_change_entries(const struct pman_change *change, pid_t pid, uint64_t start);

#endif
