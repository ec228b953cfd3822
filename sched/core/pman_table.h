/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PMan's table: recurrent processes that are activated at ticks, in order of precedence (seed 002). A tick comes from a timer
 * or from outside, as when a camera or a player has a new picture. This is the table (the seed's Table 1) and what its services
 * (Table 2) do to it. Pure: time is an argument, nothing is allocated, nobody is signalled. Each call that can have an effect
 * outside fills a list of actions, in the order in which the caller must carry them out.
 *
 * All times are int64_t ns of one monotonic clock that never goes back; periods and phases are in ticks. Ticks count from 0.
 *
 * The table can lie in shared memory: it has no pointers, fixed capacities and only types of fixed size. One thread at a time
 * may use it. A call that is interrupted for ever leaves a table that makes no sense; so callers that may die let it change a
 * copy (pman_table_copy), and make that the table afterwards.
 *
 * An instance of a process goes through these states:
 *
 *     idle -- tick --> blocked (predecessors) --> waiting (delay) --> running -- epilogue --> idle
 *
 * In tick k at time t_k a process is due if k >= phase and (k - phase) mod period = 0. It is released at the later one of
 * t_k + delay and the end of the last predecessor. So a delay absorbs the predecessors' jitter, and precedences hold even if
 * they outlast the delay. Predecessors are an AND. All that are due in a tick are marked before any is released, so that no
 * successor overtakes on another CPU. Of those that are released at one time, the highest priority comes first, then the one
 * that was registered first. If the last instance still runs, waits or is blocked, the new one is skipped and counted.
 *
 * With different periods a process waits for each instance of a predecessor that was activated after its own previous
 * activation, this tick included. A predecessor that was not activated in this span is no condition. (The seed has equal
 * periods only.)
 *
 * The deadline counts from the release. If it passes, that is a miss, once per instance, and the recovery process that the
 * entry names is activated at once, without regard to its own period, delay and predecessors. For its successors this counts
 * as an activation between the last tick and the next one.
 *
 *     pman_table_init(&table, &(struct pman_table_options){.priority_max = 99});
 *     pman_table_add(&table, "camera", &(struct pman_timing){.period = 1}, 50, NULL);
 *     pman_table_add(&table, "control", &(struct pman_timing){.period = 1, .delay_ns = 20000000}, 40, NULL);
 *     pman_table_precede(&table, "control", "camera");
 *     pman_table_attach(&table, "camera", camera_pid, &out); ... carry out ...; pman_table_attach(&table, "control", ...
 *     at each tick:                 pman_table_tick(&table, tick_ns, now_ns, &out); ... carry out ...
 *     at pman_table_next_ns:        pman_table_timer(&table, now_ns, &out); ... carry out ...
 *     when a process is done:       pman_table_finish(&table, "camera", now_ns, &out); ... carry out ...
 *
 * Calls return 0 or a negative errno. -ENOENT, for all of them: there is no process of this name. Others stand beside the call.
 * After an error the table is as before and the list is empty.
 */
#ifndef SCHED_PMAN_TABLE_H
#define SCHED_PMAN_TABLE_H

#include "pman_types.h"

#include <stdbool.h>

enum {
    PMAN_NONE = -1,                        /* no process */
    PMAN_OUT_CAPACITY = 2 * PMAN_CAPACITY, /* no call has more actions than a miss and a release of each process */
};

#define PMAN_NEVER INT64_MAX /* a time */

/* One process, by its index. The names in brackets are the seed's. */
struct pman_process {
    char name[PMAN_NAME_SIZE];       /* [name] */
    char recovery[PMAN_NAME_SIZE];   /* the process to activate after a miss; empty: none */
    struct pman_timing timing;       /* [period, phase, delay, deadline] */
    struct pman_timing next_timing;  /* from the next tick on, if has_next_timing */
    uint64_t predecessors;           /* [pred_name] a set of indexes */
    uint64_t waits_for;              /* predecessors that this instance still waits for */
    uint64_t registration;           /* number, ascending */
    /* When the last instance was activated: 2 k in tick k, 2 k + 1 between ticks k and k + 1, after a miss; -1: never. */
    int64_t activated;
    int64_t activated_before;        /* the instance before the last */
    int64_t earliest_ns;             /* tick + delay */
    int64_t ready_ns;                /* when its last predecessor had finished */
    int64_t deadline_at_ns;          /* of the running instance; PMAN_NEVER: none, or missed already */
    int64_t start_ns;                /* when it was released. [laststart] is known to those who activate the process */
    int64_t finish_ns;               /* [lastfinish] */
    int64_t activations;             /* [nact] */
    int64_t misses;                  /* [ndm] */
    int64_t skips;
    int32_t pid;                     /* [pid] 0: none */
    int32_t priority;                /* [qosdata] */
    int32_t status;                  /* [status] enum pman_status */
    int32_t cause;                   /* the process whose miss activated this instance, or PMAN_NONE */
    int32_t qos_update;              /* [qosupdateflag] the priority is to be set as soon as there is a pid */
    int32_t has_next_timing;
};

struct pman_table {
    int32_t capacity;       /* how many processes it takes, at most PMAN_CAPACITY */
    int32_t used;           /* all processes from this index on are free */
    int32_t deadlines;      /* enum pman_deadlines */
    int32_t priority_min;
    int32_t priority_max;
    int32_t is_closed;      /* for good */
    int64_t ticks;          /* so far: the number of the next one */
    uint64_t registrations; /* so far */
    struct pman_process process[PMAN_CAPACITY];
};

enum pman_action_kind {
    PMAN_RELEASE,      /* activate the process now */
    PMAN_MISSED,       /* it has missed its deadline; for a log. If it has a recovery process, that one's release follows */
    PMAN_SET_PRIORITY, /* set the priority of its pid */
};

struct pman_action {
    enum pman_action_kind kind;
    int32_t process;    /* index */
    int32_t pid;
    int32_t priority;
    int32_t cause;      /* of a release: the process that missed its deadline, or PMAN_NONE: a tick */
    int64_t release_ns; /* of a release: when it should be. What it is late by is the caller's lateness */
};

struct pman_out {
    struct pman_action action[PMAN_OUT_CAPACITY];
    int count;
};

struct pman_table_options {
    int capacity;                   /* 0: PMAN_CAPACITY */
    enum pman_deadlines deadlines;
    int priority_min, priority_max; /* what is valid */
};

/* Makes an empty table. -EINVAL: capacity, deadlines or priorities are not possible. */
int pman_table_init(struct pman_table *table, const struct pman_table_options *options);

/* Copies the part of a table that is in use. */
void pman_table_copy(struct pman_table *to, const struct pman_table *from);

/* The services of the seed's Table 2 that concern the table, in its order. */

/* True for 1 to 31 letters, digits, - and _: names are printed in files of several formats. */
bool pman_is_name(const char *name);

/*
 * Registers a process. recovery: the name of a process that may be registered later; NULL: none. -EINVAL: a name that is not
 * possible, or times outside 0 to PMAN_TIME_MAX; -ERANGE: priority; -EEXIST; -ENOSPC.
 */
int pman_table_add(struct pman_table *table, const char *name, const struct pman_timing *timing, int priority,
                   const char *recovery);

/*
 * Removes a process with its precedences. If an instance is unfinished, its successors wait for it no longer; if its deadline has
 * passed, that is a miss, as everywhere.
 */
int pman_table_remove(struct pman_table *table, const char *name, int64_t now_ns, struct pman_out *out);

/* Completes a registration. -EINVAL: pid <= 0; -EBUSY: it has a pid; detach first. */
int pman_table_attach(struct pman_table *table, const char *name, int32_t pid, struct pman_out *out);

/* Clears the pid. An unfinished instance counts as finished. -ESRCH: it has none. */
int pman_table_detach(struct pman_table *table, const char *name, int64_t now_ns, struct pman_out *out);

/* Adds a precedence, from the next activation on. Adding it again changes nothing. -ELOOP: it would close a cycle. */
int pman_table_precede(struct pman_table *table, const char *name, const char *predecessor);

/* Removes a precedence, also for an instance that waits. -ENOENT also if there is none. */
int pman_table_unprecede(struct pman_table *table, const char *name, const char *predecessor, int64_t now_ns,
                         struct pman_out *out);

/* Changes the priority, now or as soon as there is a pid. -ERANGE: outside priority_min to priority_max. */
int pman_table_prioritize(struct pman_table *table, const char *name, int priority, struct pman_out *out);

/*
 * Changes the fields of the timing (a set of enum pman_fields) from the next tick on. An instance that was
 * activated before keeps its delay; one that runs keeps its deadline. A later call replaces only its own fields. -EINVAL: no
 * field, an unknown one, or times outside 0 to PMAN_TIME_MAX.
 */
int pman_table_retime(struct pman_table *table, const char *name, unsigned fields, const struct pman_timing *timing);

/* The process has finished its instance. Each process must say so. -EALREADY: no instance runs. */
int pman_table_finish(struct pman_table *table, const char *name, int64_t now_ns, struct pman_out *out);

/* last_start_ns is when the last instance was released. */
int pman_table_query(const struct pman_table *table, const char *name, struct pman_statistics *statistics);

/*
 * The next tick: changes of timing begin, deadlines are looked at, processes are activated. Delays count from tick_ns, which
 * is now_ns or earlier.
 */
int pman_table_tick(struct pman_table *table, int64_t tick_ns, int64_t now_ns, struct pman_out *out);

/* What the seed does not need, as it has a thread for each delay and looks at deadlines at ticks only. */

/* Releases the processes whose delay has passed, and looks at deadlines. Call it at pman_table_next_ns; earlier does no harm. */
int pman_table_timer(struct pman_table *table, int64_t now_ns, struct pman_out *out);

/* Returns when pman_table_timer is to be called, or PMAN_NEVER. It changes with every call above. */
int64_t pman_table_next_ns(const struct pman_table *table);

/*
 * A process has ended: its entries (it may have several), a set of indexes, have no pid from now on, and their instances count as
 * finished, so that successors run. -ESRCH: none of them has a pid.
 */
int pman_table_bury(struct pman_table *table, uint64_t entries, int64_t now_ns, struct pman_out *out);

/*
 * Lists the priorities of all that have a pid, and the releases of all instances that run, as if each was new: for a caller
 * that does not know which of them were carried out.
 */
void pman_table_list_again(const struct pman_table *table, struct pman_out *out);

/* Returns the index of a process, or -ENOENT, also for NULL. */
int pman_table_find(const struct pman_table *table, const char *name);

#endif
