/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides which threads of a player have a reservation, and how large each is, while the player runs (seed 003, sections IV and
 * VI, for applications with several threads). It joins period_vote, rate_watch, budget and budget_sum; what it decides,
 * linux/reservation carries out. Time is an argument. Not thread-safe.
 *
 *     tuner_init(&tuner, &options, 0.6);
 *     after each detection:
 *         tuner_detected(&tuner, &rate, threads, ids, count, &work);
 *     every 500 ms:
 *         for each of tuner.threads: fill in a sample
 *         tuner_update(&tuner, now_ns, samples);
 *         for each of tuner.threads: reserve granted_ns in each budget.period_ns, or nothing if granted_ns is 0
 *         if a reservation was refused because too much is reserved: tuner_refused(&tuner, now_ns, in_force);
 *
 * Which threads: those that work at the picture rate, and those that work at a part of it and use more than 1 % of a CPU, as
 * the threads of a frame-parallel decoder do. A thread at the picture rate itself needs only 0.1 %: the one that presents
 * pictures uses next to nothing, and it is the one that must not be late. All others (user interface, demuxer, sound) stay as
 * they are.
 *
 * A thread that decodes ahead has no rate while it is behind: it works whenever it gets the CPU. So a thread that starves beside a
 * known rate is tuned as well, with the period of the pictures, for as long as it uses more than 1 % of a CPU.
 *
 * A player that starves shows no rate, because it never waits for its next picture. So threads that compete for CPU time while
 * no rate is known get a reservation on trial: three times what they could use, as far as the limit allows. It grows while it
 * is used up, and falls otherwise. The player catches up, and then its rate shows, and the threads keep what they have until they
 * show what they need. If it does not within twelve seconds, the program is none that has a rate, and the next trial is a minute
 * later.
 */
#ifndef SCHED_TUNER_H
#define SCHED_TUNER_H

#include "budget.h"
#include "rate_watch.h"

#include <stdbool.h>
#include <stdint.h>

enum { TUNED_THREADS_MAX = 32 };

struct tuned_thread {
    int64_t id; /* the caller's */
    double hz;  /* the rate at which it works: the picture rate or a part of it */
    int part;
    struct budget budget;
    int64_t granted_ns; /* what to reserve in each budget.period_ns; 0: nothing */
    int missed;         /* detections in a row without it */
    bool is_on_trial;   /* no rate is known; hz is 0 */
    bool is_adopted;    /* it starved, and has shown no rate of its own yet */
};

struct tuner {
    struct budget_options options;
    struct rate_watch rate;
    double limit;        /* of the sum of all reservations, as a part of a CPU */
    double most;         /* the same, as far as the kernel admits it: at most limit */
    int64_t refused_ns;  /* when `most` was changed last */
    int64_t period_ns;   /* of all reservations, where the caller sets it; 0: that of each thread */
    int64_t trial_ns;    /* when the last trial began, or ended; 0: there was none */
    bool is_trial;       /* some threads are on trial */
    struct tuned_thread threads[TUNED_THREADS_MAX];
    int count;
};

/* What happened to a thread since the last update. */
struct tuner_sample {
    const int64_t *cpu_ns; /* CPU time of each of the latest periods; BUDGET_PERIODS of them count */
    int64_t periods;
    struct budget_sample budget;
    bool is_in_force; /* the thread has its reservation, so that it shows whether that is enough */
};

/* True if a thread gets a reservation. */
bool tuner_wants(const struct period_thread *thread);

/*
 * limit > 0. The caller may set period_ns afterwards: seed 003 compares periods of reservations (Figures 3 and 4, Table II). It is for
 * BUDGET_LFSG, because the other rules take what a thread uses in its own period for what it needs in the reservation's.
 */
void tuner_init(struct tuner *tuner, const struct budget_options *options, double limit);

/*
 * Takes over a detection (period_vote) of these threads; ids[i] is the id of threads[i], 0 for a thread that has ended. A
 * thread begins with budget_first_ns. It leaves if two detections in a row did not find it among those that want a reservation
 * (one without any rate that uses more than 1 % of a CPU may be behind, and stays), or if it has ended. A detection that disagrees
 * with the known rate changes nothing before it is confirmed. Returns true if the known rate has changed.
 */
bool tuner_detected(struct tuner *tuner, const struct picture_rate *seen, const struct period_thread *threads, const int64_t *ids,
                    int count, struct period_work *work);

/*
 * True if a detection is not to be believed, because the threads at its rate use little of the program's CPU time (less than a
 * third), and either the rate is none of a film, or other threads starve (is_starving[i], for threads[i]), so that theirs cannot
 * be seen; or because a rate that is none of a film was observed for less than four seconds, or is not the known one and was observed
 * while the program is behind: a thread starves or uses up its budget. A sound server's thread works at 20 Hz in many players, and
 * is the only one with a rate while the player starves. A player that catches up works whenever it gets the CPU: beside a real-time
 * program of 125 Hz, players of films of 25 Hz were seen at 125, 100 and 40 Hz.
 */
bool tuner_doubts(const struct tuner *tuner, const struct picture_rate *seen, const struct period_thread *threads,
                  const bool *is_starving, int count, bool is_behind, int64_t observed_ns);

/* A thread, and the parts of the last second or so for which it was running, and could have run but had no CPU. */
struct tuner_starving {
    int64_t id;
    double running;
    double waiting;
};

/*
 * The period of reservations on trial. No usual picture rate belongs to it: what it makes look periodic must not pass for a
 * rate.
 */
extern const int64_t tuner_trial_period_ns;

/*
 * Looks after threads that starve: those that wait for a CPU for more than a fifth of the time, and run for more than a hundredth.
 * Call it about every second. While no rate is known it begins, continues or ends a trial of them; otherwise they are tuned with
 * the known rate.
 */
void tuner_try(struct tuner *tuner, int64_t now_ns, const struct tuner_starving *threads, int count);

/* True if a thread starves. */
bool tuner_is_starving(const struct tuner_starving *thread);

/* True if a detection has seen the period of a trial and not a rate of the program. */
bool tuner_sees_trial(const struct tuner *tuner, const struct picture_rate *seen);

/* Removes a thread that has ended or that is not to be tuned. Unknown ids are ignored. */
void tuner_remove(struct tuner *tuner, int64_t id);

/* Adapts all budgets; samples[i] belongs to tuner->threads[i]. */
void tuner_update(struct tuner *tuner, int64_t now_ns, const struct tuner_sample *samples);

/*
 * The kernel did not admit the sum: all is granted anew, a tenth less in all; but as much as in_force, the sum of the reservations
 * that the threads have now as a part of a CPU, if more than that was refused. The next update tries all of it again: what other
 * threads have left is free only when their periods have ended.
 */
void tuner_refused(struct tuner *tuner, int64_t now_ns, double in_force);

/* Returns the sum of the granted budgets, as a part of a CPU. */
double tuner_granted(const struct tuner *tuner);

/* True if the sum is smaller than the threads need, because of the limit or because the kernel does not admit more. */
bool tuner_is_limited(const struct tuner *tuner);

#endif
