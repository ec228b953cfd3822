/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The jobs of all threads of a process, and of its descendants on request, from their context switches. Threads that start
 * later are found at the next poll; what they did before it is missing. Threads that have ended keep their jobs. Not
 * thread-safe.
 *
 *     struct process_watch *watch;
 *     if (process_watch_create(&watch, pid) == 0) {
 *         while (process_watch_poll(watch) > 0 && ...)
 *             ... sleep 100 ms ...
 *         const int count = process_watch_threads(watch, INT64_MIN, threads, WATCHED_THREADS_MAX);
 *         period_vote(&rate, threads, count, observed_ns, &work);
 *         process_watch_destroy(&watch);
 *     }
 */
#ifndef SCHED_PROCESS_WATCH_H
#define SCHED_PROCESS_WATCH_H

#include "perf_ring.h"
#include "period_vote.h"
#include "thread_list.h"
#include "thread_use.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { WATCHED_THREADS_MAX = PERF_RINGS_MAX };

struct process_watch;

/*
 * Begins to watch a process. The caller owns *watch after success, and nothing after an error. Returns 0, -ESRCH (no such
 * process), -ENOMEM, or an error of switch_ring_open if no thread could be watched.
 */
int process_watch_create(struct process_watch **watch, pid_t process);

/* Watches the descendants of the process, too, from the next poll on: a player may be started by a shell script. */
void process_watch_family(struct process_watch *watch);

/*
 * Collects what has happened; call it 10 times a second, so that no record is lost. Returns the number of threads that the
 * process, or its family, has now, at most 1024; 0 if the process has ended. It reads /proc only when the kernel's records report a
 * new thread, descendant or name, or the end of a thread. Threads that cannot be watched have no records: while there are such, each
 * call lists the threads, and every fifth one also looks for descendants and new names. The last 48 files that this program may open
 * stay free for the caller. Never blocks.
 */
int process_watch_poll(struct process_watch *watch);

/*
 * Fills in the events of each thread watched so far, from from_ns on; they stay the watch's, until the next call of it. Returns
 * their number.
 */
int process_watch_threads(const struct process_watch *watch, int64_t from_ns, struct period_thread *threads, int most);

/* Returns how many threads process_watch_threads has. */
int process_watch_count(const struct process_watch *watch);

/*
 * Forgets the events that ended before this time, and threads that have ended without later ones; their numbers are given to
 * new threads.
 */
void process_watch_forget(struct process_watch *watch, int64_t before_ns);

/* Returns the process, the id and the name of a thread, by its number in process_watch_threads. */
pid_t process_watch_process(const struct process_watch *watch, int thread);
pid_t process_watch_id(const struct process_watch *watch, int thread);
const char *process_watch_name(const struct process_watch *watch, int thread);

/* True if the thread had not ended at the last poll. */
bool process_watch_lives(const struct process_watch *watch, int thread);

/* Returns what the thread uses. The caller may call thread_use_reserve with it. */
struct thread_use *process_watch_use(struct process_watch *watch, int thread);

/* Returns true if the thread has begun a job and not ended it; then *job is that one with its CPU time so far. */
bool process_watch_unfinished(const struct process_watch *watch, int thread, int64_t now_ns, struct thread_event *job);

/* What the watch has missed. */
struct process_watch_gaps {
    int64_t lost_records; /* the rings were too small, or the polls too rare */
    int unwatched;        /* threads that could not be watched */
    int error;            /* why the last one of them could not; 0: there were too many */
};

struct process_watch_gaps process_watch_gaps(const struct process_watch *watch);

/* Ends the watch and clears *watch, which may be NULL already. */
void process_watch_destroy(struct process_watch **watch);

#endif
