/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Carries out what the tuner has decided: the reservations that `dlex-sched tune` holds, and why others were refused. */
#ifndef SCHED_TUNE_HOLDS_H
#define SCHED_TUNE_HOLDS_H

#include "process_watch.h"
#include "reservation.h"
#include "tuner.h"
#include "undo_guard.h"

#include <stdbool.h>
#include <stdint.h>

/* After a refusal for a reason of its own no reservation is tried for the thread for this long. */
#define TUNE_LEFT_ALONE_NS (INT64_C(10) * 1000000000)

struct tune_hold {
    int64_t id;
    struct reservation reservation;
    int64_t running_ns; /* for how long the thread had run at the last look of tune_holds_free_halted */
    int halted;         /* looks in a row that found it runnable, and not run since the one before */
};

/* A thread that was refused, and until when it is not asked again. */
struct tune_refused {
    int64_t id;
    int64_t until_ns;
};

/* Begins as zero, then tune_holds_begin. */
struct tune_holds {
    struct undo_journal journal;
    struct undo_guard guard;
    struct tune_hold list[TUNED_THREADS_MAX];
    int count;
    struct tune_refused refused[TUNED_THREADS_MAX];
    int refused_count;
    bool reclaims;         /* threads may use what nobody has reserved, beyond their budgets; may be changed before an application */
    unsigned reasons;      /* a bit for each answer that was reported */
    bool lacks_admission;  /* the last application was refused for lack of CPU time */
};

/*
 * Creates the journal and starts the guard. Returns 0, or a negative errno with nothing to end.
 */
int tune_holds_begin(struct tune_holds *holds);

/* Starts another guard after somebody has killed the first one. Returns 0 or a negative errno. */
int tune_holds_guard_ended(struct tune_holds *holds);

/*
 * Reserves what the tuner grants, changes what differs, and takes the rest back. Threads that cannot have a reservation leave
 * the tuner. A new reason for a refusal is written to standard error, once.
 */
void tune_holds_apply(struct tune_holds *holds, struct tuner *tuner, struct process_watch *watch, int64_t now_ns);

/*
 * Takes the reservation back from a thread that could run and has not run for two seconds, or three periods if that is longer, and says
 * so; the thread leaves the tuner. The kernel (seen in 6.18) may never run a thread under a reservation if it had left another one
 * while that budget was used up, and came back too soon; who took it back need not be this program. Call it every second.
 */
void tune_holds_free_halted(struct tune_holds *holds, struct tuner *tuner, struct process_watch *watch, int64_t now_ns);

/* Takes all reservations back; they can be given again. */
void tune_holds_suspend(struct tune_holds *holds, struct process_watch *watch, int64_t now_ns);

/* True if the thread was refused lately, so that the tuner must not see it. */
bool tune_holds_leaves_alone(const struct tune_holds *holds, int64_t id, int64_t now_ns);

/* Returns the sum of all reservations in force, as a part of a CPU. */
double tune_holds_reserved(const struct tune_holds *holds);

/* Takes everything back, ends the guard and removes the journal. What was never begun is no error. */
void tune_holds_end(struct tune_holds *holds, struct process_watch *watch, int64_t now_ns);

/* Returns the number of a living thread in the watch, or -1. */
int tune_place_of(const struct process_watch *watch, int64_t id);

#endif
