/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the rate at which a thread works from the times at which it began to run after having been blocked. The idea is
 * seed 003's, section IV: the period is a peak in the spectrum of these events. What differs from the paper (which is in
 * period_paper.h):
 *
 * - Events within 2 ms belong to one job, so that a job which blocks several times counts once.
 * - A peak must exceed what random events would make anywhere in the range once in 100,000 observations (Rayleigh's test),
 *   and not a multiple of the mean. So "not periodic" is a statement, and too few events are no verdict: 25 Hz takes a second,
 *   where the paper claims 0.4 s.
 * - Of the strongest peak and its integer parts, the fundamental is the highest frequency whose multiples explain the peaks.
 * - The rate is refined by regression of the events' phases, and comes with its standard error: with 1 ms of jitter some
 *   2 mHz at 24 Hz after 4 s, a twelfth of the distance between 23.976 and 24 Hz; more if neighbouring jobs are late together.
 * - A thread that waits for a display works on the display's grid: 24 pictures per second on a display of 60 Hz make a peak
 *   at 60 Hz. If most places of the grid are empty, the peak at the mean rate of events counts.
 * - A thread may have two rates, as a player's only thread has one of pictures and one of sound.
 *
 * Limits: rates are found from 1.25 to 200 Hz, below 5 Hz by their multiples. Two rates in one thread must be at least four
 * times the inverse of the observed time apart (1 Hz in 4 s). A phase that drifts with the load counts as a change of rate:
 * 5 ms in 4 s are 0.03 Hz at 25 Hz. 50 pictures per second on a display of 60 Hz are reported as 60.
 */
#ifndef SCHED_PERIOD_H
#define SCHED_PERIOD_H

#include "spectrum.h"

#include <stdint.h>

/* One job, or a part of one: the thread began to run at time_ns, and used cpu_ns until it blocked. */
struct thread_event {
    int64_t time_ns;
    int64_t cpu_ns;
    int64_t end_ns; /* when it blocked; 0: not known */
};

enum period_verdict {
    PERIOD_UNKNOWN, /* too few events to say anything */
    PERIOD_NONE,    /* not periodic */
    PERIOD_FOUND,
};

struct thread_rate {
    double hz;
    double sd_hz;      /* standard error */
    double regularity; /* 0 to 1: 1 means that all jobs begin at the same phase of the period */
};

enum { PERIOD_RATES_MAX = 2 };

struct period {
    enum period_verdict verdict;
    int rates; /* 0 to PERIOD_RATES_MAX; the strongest comes first */
    struct thread_rate rate[PERIOD_RATES_MAX];
    double cpu_share;          /* CPU time used, as a part of the observed time; known with every verdict */
    int64_t cpu_per_period_ns; /* mean, with respect to the strongest rate; 0: no rate */
};

/* Only the last 8 s count. Jobs are at least 2 ms apart, so there are at most 4001. */
#define PERIOD_OBSERVED_MAX_NS INT64_C(8000000000)
enum { PERIOD_JOBS_MAX = 4096 };

/* Working memory, 672 KiB, which the caller holds. Its content means nothing between calls. */
struct period_work {
    struct spectrum spectrum;
    int64_t times_ns[PERIOD_JOBS_MAX];
};

/*
 * Finds the rates of one thread. The events must be in ascending order of time; of more than 8 s the last 8 s count.
 * window_ns is the observed time, for cpu_share. Returns 0, or -EINVAL if the order is wrong or window_ns <= 0.
 */
int period_detect(struct period *found, const struct thread_event *events, int64_t count, int64_t window_ns,
                  struct period_work *work);

/*
 * Finds which part of a known rate a thread works at: n if at hz / n, 1 <= n <= parts_max; 0 if at none. It asks only these few
 * questions, and so needs fewer events than period_detect, and finds rates below its range. The same rules hold for the
 * events; parts_max >= 1.
 */
int period_part_of(const struct thread_event *events, int64_t count, double hz, int parts_max, struct period_work *work);

/*
 * Adds up the CPU time of each period of a thread, for budget.h. Periods are cut before the mean phase of the jobs, so that
 * jitter does not move a job to the next period; all CPU time of a job counts where it began. Only a job that lasted longer than
 * one and a half periods, because it was late or its budget had run out, counts in equal parts in all periods that it lasted.
 * Writes at most cpu_max values,
 * the latest periods last, without the first and the last period, which may be cut, and returns their number. The same rules
 * hold for the events; hz > 0.
 */
int64_t period_cpu(int64_t *cpu_ns, int64_t cpu_max, const struct thread_event *events, int64_t count, double hz,
                   struct period_work *work);

#endif
