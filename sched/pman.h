/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PMan: activates recurrent processes at ticks, in order of precedence (seed 002: P. Pedreiras, L. Almeida, "Task Management for
 * Soft Real-Time Applications based on General Purpose Operating Systems"). A tick comes from a timer, or from a program that
 * calls pman_tick, such as a camera or a player with a new picture. The processes of a graph are separate programs: if one
 * crashes, the others continue, and each can be replaced while the others run.
 *
 * The table of processes is shared memory that has a name. It belongs to one user: other users have no access to it, and
 * their tables may have the same names. One process is its manager; it gives the ticks of a timer, ends delays, checks
 * deadlines, and notices processes that have ended. The process that finishes an instance or calls pman_tick activates the next
 * processes itself, without the manager.
 *
 * pman_table.h of the sources and dlex_pman(7) say what happens in a tick: periods and phases in ticks, delays from the
 * tick, precedences, deadlines from the release, recovery processes. The names of the first 13 functions are those of the
 * seed's Table 2 in lower case; the seed gives no types.
 *
 * A process of the graph:
 *
 *     struct pman *pman;
 *     if (pman_open(&pman, "robot") < 0 || pman_attach(pman, "control", getpid(), PMAN_BY_FUTEX) < 0)
 *         return 1;
 *     while (pman_wait(pman, "control") == 0) {
 *         ... one instance ...
 *         pman_epilogue(pman, "control");
 *     }
 *     pman_leave(&pman);
 *
 * The manager, which gives a tick each 33 ms and runs at a higher priority than all processes of the graph:
 *
 *     struct pman *pman;
 *     struct pman_manager *manager;
 *     pman_init(&pman, "robot", &(struct pman_options){0});
 *     pman_procadd(pman, "camera", &(struct pman_timing){.period = 1}, 50, NULL);
 *     pman_procadd(pman, "control", &(struct pman_timing){.period = 1, .delay_ns = 20000000}, 40, NULL);
 *     pman_prec_add(pman, "control", "camera");
 *     pman_manager_start(&manager, pman, &(struct pman_manager_options){.tick_ns = 33333333, .priority = 60});
 *     ... until the user ends it ...
 *     pman_manager_stop(&manager);
 *     pman_close(&pman);
 *
 * All functions return 0 or a negative errno. After an error nothing has changed. For all functions with a handle: -ESHUTDOWN,
 * the table was closed; with a name of a process: -ENOENT, there is none; with options, a timing or statistics: -EINVAL, it is
 * NULL. Others stand beside each function.
 *
 * All functions are thread-safe, except that a handle must not be used while it is closed or left. None is safe in a signal
 * handler. None blocks but pman_wait, pman_manager_start and pman_manager_stop; the others hold the table's lock for some
 * microseconds. It is a robust mutex with priority inheritance. A call whose process is killed takes effect completely or not at
 * all, and does not stop the others.
 *
 * All times are int64_t ns of CLOCK_MONOTONIC. Process ids are those of the manager's PID namespace. A process that was given
 * a priority has SCHED_FIFO; when it is detached, it gets SCHED_OTHER back.
 */
#ifndef DLEX_PMAN_H
#define DLEX_PMAN_H

#include "pman_types.h"

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined __GNUC__
#pragma GCC visibility push(default)
#endif

/* A program's access to a table. */
struct pman;

/* All 0 is valid. */
struct pman_options {
    int capacity;                  /* how many processes there can be, at most PMAN_CAPACITY; 0: as many */
    enum pman_deadlines deadlines;
};

/* How a process learns that it is activated. */
enum pman_activation {
    PMAN_BY_FUTEX,  /* pman_wait returns */
    PMAN_BY_SIGNAL, /* it gets SIGRTMIN, which ends a program that has no handler for it; after a crash perhaps once more */
    PMAN_BY_CONT,   /* it gets SIGCONT. It stops itself at the end of each instance; who sees it stop calls pman_epilogue */
};

/*
 * Makes a table. name: 1 to 31 letters, digits, - and _. On success *pman is the caller's, to be given to pman_close or
 * pman_leave. -EINVAL: name or options; -EEXIST: there is a table with this name (pman_open; its manager may have died);
 * -EACCES: another user has made a file of the table's name; -ENOMEM and the errors of open(2) on /dev/shm.
 */
int pman_init(struct pman **pman, const char *name, const struct pman_options *options);

/*
 * Ends the table for all programs: those that wait get -ESHUTDOWN, its processes have SCHED_OTHER, and its name is free. Then
 * it frees the handle and clears *pman, which may be NULL already. Always succeeds.
 */
int pman_close(struct pman **pman);

/*
 * Registers a process. It is activated when a pid is attached. priority: 1 to 99 for SCHED_FIFO; 0: an ordinary process, whose
 * policy stays as it is. recovery: the process to activate when this one misses a deadline; it may be registered later; NULL: none.
 * -EINVAL: name (1 to 31 letters, digits, - and _) or times; -ERANGE: priority; -EEXIST; -ENOSPC: capacity.
 */
int pman_procadd(struct pman *pman, const char *name, const struct pman_timing *timing, int priority, const char *recovery);

/* Removes a process with its precedences. If it has a pid, that is detached. Its successors do not wait for it any longer. */
int pman_procdel(struct pman *pman, const char *name);

/*
 * Says which process runs under this name from now on: the caller or another one. Only its main thread gets the priority, and
 * under several names the highest. -EINVAL: how, or pid, which may not be the id of another thread; -EBUSY: the name has a living
 * process; detach it first; -ESRCH: there is no such process; -EPERM: the caller may not send it signals, or not give it this
 * priority; -EMFILE.
 */
int pman_attach(struct pman *pman, const char *name, pid_t pid, enum pman_activation how);

/*
 * The process does not run under this name any longer. An unfinished instance counts as finished; a pman_wait in it returns
 * -ESRCH. -ESRCH: the name has no process.
 */
int pman_detach(struct pman *pman, const char *name);

/* Adds a precedence, from the next activation on. Adding it again changes nothing. -ELOOP: it would close a cycle. */
int pman_prec_add(struct pman *pman, const char *name, const char *predecessor);

/* Removes a precedence, also for an instance that waits. -ENOENT also if there is none. */
int pman_prec_rem(struct pman *pman, const char *name, const char *predecessor);

/* Changes the priority, now or as soon as there is a pid. -ERANGE: not 0 to 99; -EPERM: not allowed. */
int pman_qosupd(struct pman *pman, const char *name, int priority);

/*
 * Changes some fields of the timing (a set of enum pman_fields) from the next tick on. An instance that was activated before
 * keeps its delay, one that runs keeps its deadline. -EINVAL: no field, an unknown one, or a wrong time.
 */
int pman_tpupd(struct pman *pman, const char *name, unsigned fields, const struct pman_timing *timing);

/*
 * The process has finished its instance: deadline and statistics are looked at, successors are activated. Each process must
 * call it, or somebody for it. -EALREADY: no instance runs.
 */
int pman_epilogue(struct pman *pman, const char *name);

int pman_query(struct pman *pman, const char *name, struct pman_statistics *statistics);

/*
 * The next tick: activates the processes that are due. Call it for a table whose manager gives no ticks. tick_ns: when it
 * was, from which delays count; 0: now. -EINVAL: in the future, or before the last tick.
 */
int pman_tick(struct pman *pman, int64_t tick_ns);

/* What the seed does not name. */

/*
 * Gives access to a table that exists. On success *pman is the caller's, to be given to pman_leave. -EINVAL: name; -ENOENT:
 * there is no such table; -EACCES: it is another user's; -EPROTO: it is another version's, or not a table.
 */
int pman_open(struct pman **pman, const char *name);

/* Frees a handle and clears *pman, which may be NULL already. The table stays. */
void pman_leave(struct pman **pman);

/*
 * Waits for the caller's next instance, and begins it. Returns at once if it was released already. One thread calls it for one
 * name. -EINTR: a signal handler ran; -ESRCH: the name does not have the caller's pid, perhaps no longer; -EBUSY: the
 * caller has not called pman_epilogue since its last instance; -ESHUTDOWN.
 */
int pman_wait(struct pman *pman, const char *name);

/* The threads of a manager. */
struct pman_manager;

#define PMAN_TICK_MIN INT64_C(100000) /* ns: a tick costs some microseconds; with less the manager might take all of a CPU */

struct pman_manager_options {
    int64_t tick_ns; /* between two ticks, at least PMAN_TICK_MIN; 0: they come by pman_tick */
    int priority;    /* SCHED_FIFO, above all processes; 0: as the caller, whose new threads may be ordinary (SCHED_RESET_ON_FORK) */
};

/*
 * Begins to manage a table with two threads of this process. With ticks of a timer the first comes at once, or, in a table that has
 * had ticks, at the next whole multiple of tick_ns after the last one. Ticks for which the machine was too late are left
 * out. If the manager before was killed, this one goes on in its place. On success *manager is the caller's; stop it before the
 * handle is freed. -EINVAL: options; -EBUSY: the table has a manager; -EPERM: the priority is not allowed; -ENOSYS: the
 * kernel is older than Linux 5.3; -ENOMEM, -EAGAIN, -EMFILE.
 */
int pman_manager_start(struct pman_manager **manager, struct pman *pman, const struct pman_manager_options *options);

/* Ends the threads and clears *manager, which may be NULL already. The table stays, and can have another manager. */
void pman_manager_stop(struct pman_manager **manager);

#if defined __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
