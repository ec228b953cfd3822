/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PMan, the process manager: activates recurrent processes at ticks, in order of precedence (seed 002). A tick comes from a
 * timer or from outside, as when a camera or a player has a new picture. This is the table (the seed's Table 1) and what its
 * services (Table 2) do to it. Pure: time is an argument, nothing is allocated, nobody is signalled. Each call that can have
 * an effect outside fills a list of actions, in the order in which the caller must carry them out.
 *
 * All times are int64_t ns of one monotonic clock that never goes back; periods and phases are in ticks. Ticks count from 0.
 *
 * The table can lie in shared memory: it has no pointers, fixed capacities and only types of fixed size; pman_check tells
 * whether it is of this version. One thread at a time may use it; programs that share it keep it under a lock, and carry out
 * the actions after they have released the lock. Between two calls it is consistent, so that a new manager can go on. After
 * a program has died in the middle of a call, pman_repair makes it so again.
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
 * entry names is activated at once, without regard to its own period, delay and predecessors.
 *
 *     pman_init(&table, &(struct pman_options){.name = "robot", .priority_min = 1, .priority_max = 99});
 *     pman_procadd(&table, "camera", &(struct pman_timing){.period = 1}, 50, NULL);
 *     pman_procadd(&table, "control", &(struct pman_timing){.period = 1, .delay_ns = 20000000}, 40, NULL);
 *     pman_prec_add(&table, "control", "camera");
 *     pman_attach(&table, "camera", camera_pid, &out); ... carry out ...; pman_attach(&table, "control", ...
 *     at each tick:           pman_tick(&table, now_ns, &out); ... carry out ...
 *     at pman_next_ns:        pman_timer(&table, now_ns, &out); ... carry out ...
 *     when a process is done: pman_epilogue(&table, "camera", now_ns, &out); ... carry out ...
 *
 * Errors, for all calls: -ENOENT, there is no process of this name; others stand beside the call. After an error nothing has
 * changed and the list is empty.
 */
#ifndef SCHED_PMAN_H
#define SCHED_PMAN_H

#include <stdint.h>

enum {
    PMAN_VERSION = 1,
    PMAN_CAPACITY = 64,   /* a set of processes is the bits of an uint64_t */
    PMAN_NAME_SIZE = 32,  /* with the 0 at the end */
    PMAN_NONE = -1,       /* no process */
    PMAN_OUT_CAPACITY = 2 * PMAN_CAPACITY, /* no call has more actions than a miss and a release of each process */
};

#define PMAN_MAGIC UINT32_C(0x6e616d70)
#define PMAN_NEVER INT64_MAX /* a time */

/* Stored as int32_t. */
enum pman_status {
    PMAN_FREE,       /* not a process */
    PMAN_REGISTERED, /* without a pid; never due */
    PMAN_IDLE,
    PMAN_BLOCKED,    /* due; at least one predecessor has not finished */
    PMAN_WAITING,    /* due; until its delay has passed */
    PMAN_RUNNING,
    PMAN_DIED,       /* as registered; its process has ended without detaching */
};

struct pman_timing {
    int64_t period;      /* ticks; 0: never due by itself, as recovery processes are */
    int64_t phase;       /* ticks; >= 0 */
    int64_t delay_ns;    /* from the tick; >= 0 */
    int64_t deadline_ns; /* from the release; 0: none */
};

/* The fields of pman_timing, as a set. */
enum pman_fields { PMAN_PERIOD = 1, PMAN_PHASE = 2, PMAN_DELAY = 4, PMAN_DEADLINE = 8 };

/* One process, by its index. The names in brackets are the seed's. */
struct pman_process {
    char name[PMAN_NAME_SIZE];       /* [name] */
    char recovery[PMAN_NAME_SIZE];   /* the process to activate after a miss; empty: none */
    struct pman_timing timing;       /* [period, phase, delay, deadline] */
    struct pman_timing next_timing;  /* from the next tick on, if has_next_timing */
    uint64_t predecessors;           /* [pred_name] a set of indexes */
    uint64_t waits_for;              /* predecessors that this instance still waits for */
    uint64_t registration;           /* number, ascending */
    int64_t activation_tick;         /* of the last instance that was activated; -1: none was */
    int64_t previous_tick;           /* of the one before */
    int64_t earliest_ns;             /* tick + delay */
    int64_t ready_ns;                /* when its last predecessor had finished */
    int64_t deadline_at_ns;          /* of the running instance; PMAN_NEVER: none, or missed already */
    int64_t start_ns;                /* [laststart] */
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

enum pman_tick_source { PMAN_TICK_TIMER, PMAN_TICK_EXTERNAL };

/* When deadlines are looked at. */
enum pman_deadlines {
    PMAN_DEADLINES_TIMER, /* when they pass */
    PMAN_DEADLINES_TICK,  /* at the next tick, or in the epilogue if that is earlier, as in the seed */
};

struct pman {
    uint32_t magic;
    uint32_t version;
    uint32_t size;          /* of this struct */
    int32_t capacity;       /* how many processes it takes, at most PMAN_CAPACITY */
    int32_t tick_source;    /* enum pman_tick_source; for the layers above */
    int32_t deadlines;      /* enum pman_deadlines */
    int32_t priority_min;
    int32_t priority_max;
    char name[PMAN_NAME_SIZE];
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
    int64_t release_ns; /* of a release: when it should be. What it is late by is the manager's lateness */
};

struct pman_out {
    struct pman_action action[PMAN_OUT_CAPACITY];
    int count;
};

struct pman_options {
    const char *name;
    int capacity;                      /* 0: PMAN_CAPACITY */
    enum pman_tick_source tick_source;
    enum pman_deadlines deadlines;
    int priority_min, priority_max;    /* as sched_get_priority_min and _max say */
};

struct pman_statistics {
    enum pman_status status;
    int32_t pid;
    int64_t activations;
    int64_t misses;
    int64_t skips;
    int64_t last_start_ns;  /* -1: never */
    int64_t last_finish_ns; /* -1: never */
};

/* The services of the seed's Table 2, in its order. The seed gives no types. All return 0 or a negative errno. */

/* Makes an empty table of whatever is there. -EINVAL: name, capacity or priorities are not possible. */
int pman_init(struct pman *table, const struct pman_options *options);

/* Makes the table invalid, for those who still have it mapped. */
int pman_close(struct pman *table);

/*
 * Registers a process. recovery: the name of a process that may be registered later; NULL: none. -EINVAL: empty or too long
 * name, or negative times; -ERANGE: priority; -EEXIST; -ENOSPC.
 */
int pman_procadd(struct pman *table, const char *name, const struct pman_timing *timing, int priority, const char *recovery);

/* Removes a process with its precedences. If an instance is unfinished, its successors wait for it no longer. */
int pman_procdel(struct pman *table, const char *name, int64_t now_ns, struct pman_out *out);

/* Completes a registration, by the process itself or by another. -EINVAL: pid <= 0; -EBUSY: it has a pid; detach first. */
int pman_attach(struct pman *table, const char *name, int32_t pid, struct pman_out *out);

/* Clears the pid. An unfinished instance counts as finished. -ESRCH: it has none. */
int pman_detach(struct pman *table, const char *name, int64_t now_ns, struct pman_out *out);

/* Adds a precedence, from the next activation on. Adding it again changes nothing. -ELOOP: it would close a cycle. */
int pman_prec_add(struct pman *table, const char *name, const char *predecessor);

/* Removes a precedence, also for an instance that waits. -ENOENT also if there is none. */
int pman_prec_rem(struct pman *table, const char *name, const char *predecessor, int64_t now_ns, struct pman_out *out);

/* Changes the priority, now or as soon as there is a pid. -ERANGE: outside priority_min to priority_max. */
int pman_qosupd(struct pman *table, const char *name, int priority, struct pman_out *out);

/*
 * Changes the fields of the timing (a set of enum pman_fields) from the next tick on. An instance that was
 * activated before keeps its delay; one that runs keeps its deadline. A later call replaces only its own fields. -EINVAL: no
 * field, an unknown one or negative times.
 */
int pman_tpupd(struct pman *table, const char *name, unsigned fields, const struct pman_timing *timing);

/* The process has finished its instance. Each process must say so. -EALREADY: no instance runs. */
int pman_epilogue(struct pman *table, const char *name, int64_t now_ns, struct pman_out *out);

int pman_query(const struct pman *table, const char *name, struct pman_statistics *statistics);

/* The next tick, at now_ns: changes of timing begin, deadlines are looked at, processes are activated. */
int pman_tick(struct pman *table, int64_t now_ns, struct pman_out *out);

/* What the seed does not need, as it has a thread for each delay and looks at deadlines at ticks only. */

/* Releases the processes whose delay has passed, and looks at deadlines. Call it at pman_next_ns; earlier does no harm. */
int pman_timer(struct pman *table, int64_t now_ns, struct pman_out *out);

/* Returns when pman_timer is to be called, or PMAN_NEVER. It changes with every call above. */
int64_t pman_next_ns(const struct pman *table);

/*
 * A process has ended: its entries (it may have several) have no pid from now on, and their instances count as finished, so
 * that successors run. -ESRCH: no entry has this pid.
 */
int pman_died(struct pman *table, int32_t pid, int64_t now_ns, struct pman_out *out);

/*
 * Makes the table consistent after a program has died while it held the lock, and perhaps before it had carried out its
 * actions. What each instance waits for follows from the rest (a precedence that was added since its activation may hold for
 * it, too). An entry that makes no sense is removed. A tick that was interrupted may have activated some of its processes
 * only. Lists all priorities and all running instances again, so the caller must be able to carry out a release twice (with a
 * counter that the process compares, not with a signal). -EPROTO: this is not a table.
 */
int pman_repair(struct pman *table, int64_t now_ns, struct pman_out *out);

/* Returns 0 if this is a table of this version, else -EPROTO. */
int pman_check(const struct pman *table);

/* Returns the index of a process, or -ENOENT. */
int pman_find(const struct pman *table, const char *name);

#endif
