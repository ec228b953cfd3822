/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the picture rate of a player from the rates of its threads, and which threads work at that rate or at a part of it.
 * Seed 003 leaves applications with several threads to future work (section VI.C). Analysed together, the threads of mpv or
 * ffplay give a rate of no thread; so each thread is analysed alone, and then the threads vote:
 *
 * - A thread votes with its share of CPU time, so that the decoders decide and not a timer of the user interface.
 * - It votes for its own rate in full. It also votes for n times its rate: in full, if n (or n - 1) threads like it have it,
 *   as the n threads of a frame-parallel decoder do; otherwise with 1/n, for n up to 16. The rates of these n may be half a cycle
 *   of the observed time off, because a decoder's thread may miss its turn, and its jobs then begin at another phase; such a vote
 *   counts three quarters.
 * - Votes for a usual picture rate count double. Rates below 10 Hz are elected only if no thread has a higher one.
 * - A thread with more than 1 % of a CPU and too few jobs for a rate of its own votes, with 1/n, if it works at the n-th part.
 * - The rate is the mean of its voters' estimates, of those at the rate itself if there are any: a decoder's thread may follow
 *   the clock of the sound for some seconds. Each is weighted by the inverse of its variance. If they differ by more than their
 *   standard errors explain, the excess is added to each variance.
 *
 * Then each thread that is still without a rate is asked whether it works at a part of this one.
 */
#ifndef SCHED_PERIOD_VOTE_H
#define SCHED_PERIOD_VOTE_H

#include "period.h"
#include "standard_rate.h"

enum { PERIOD_PARTS_MAX = 16 }; /* more threads than libavcodec starts by itself for one film */

struct period_thread {
    const struct thread_event *events; /* the caller's, ascending in time */
    int64_t count;
    struct period found; /* out */
    int part;            /* out: n if the thread works at the picture rate / n, 0 if at none */
    double hz;           /* out: the picture rate / part, or the thread's own strongest rate; 0: none */
};

struct picture_rate {
    enum period_verdict verdict;
    double hz;
    double sd_hz;
    struct standard_rate standard; /* which usual rate it is; numerator 0: none, or not yet decided between two */
    int threads;                   /* that work at this rate or at a part of it */
};

/*
 * Finds the picture rate of these threads, which were observed for window_ns, and fills in their results. The verdict is
 * PERIOD_FOUND if any thread has a rate, otherwise PERIOD_NONE if any thread is not periodic, otherwise PERIOD_UNKNOWN.
 * Returns 0, or -EINVAL as period_detect does, with no result filled in.
 */
int period_vote(struct picture_rate *rate, struct period_thread *threads, int count, int64_t window_ns,
                struct period_work *work);

#endif
