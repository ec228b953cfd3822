/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How late a periodic thread wakes up, and whether reservations have made it wake up earlier. Ours; seed 003 measures the times
 * between pictures instead, which only the player knows.
 *
 * A player sleeps until its next picture is due. How late it gets the CPU then shows in its context switches: the beginnings of
 * its jobs lie on a grid of one period, and late ones lie behind it. What counts as in time is the tenth percentile of a
 * window's jobs, because the few earliest ones may be a second job of the same period.
 *
 * A player that starves does not sleep, so that its pictures have no jobs of their own. Each period of a job that lasts for
 * more than one and a half periods counts as one period late. How late it was is not known.
 *
 * Limits: a job is late if it begins up to two thirds of a period behind the grid. One that is later passes for an early job of
 * the next period, and does not count if that has one nearer to the grid. A thread that waits for another thread, as for a
 * picture to show, is not seen to be late before it has too few jobs.
 */
#ifndef SCHED_WAKE_LATENESS_H
#define SCHED_WAKE_LATENESS_H

#include "period.h"

#include <stdbool.h>
#include <stdint.h>

/* A time in which a thread was watched. */
struct wake_window {
    const struct thread_event *events; /* ascending in time; earlier ones count as far as they last into the window */
    int64_t count;
    int64_t unfinished_ns; /* when the job began that goes on at until_ns; 0: there is none */
    int64_t switched_ns;   /* when reservations were switched on; 0: there are none */
    int64_t from_ns;       /* what the switch has upset has settled */
    int64_t until_ns;
    double hz;             /* the thread's rate, > 0 */
};

/*
 * Writes the 95th percentile of how late the periods of a window were, in ns: one period, if fewer than 20 periods have a job
 * of their own. Of each period the job nearest to the grid counts. A job that began before reservations were switched on shows
 * what was missed without them, so a window with them begins at its end. Returns 0, or -ENODATA if the window is shorter than
 * 20 periods, or if the thread did nothing for a second, as in a pause.
 */
int wake_lateness(int64_t *late_ns, const struct wake_window *window, struct period_work *work);

enum { WAKE_PAIRS_MAX = 512 };

/* Pairs of windows, one with reservations and the next without. Begins as zero. */
struct wake_comparison {
    double with_ns[WAKE_PAIRS_MAX];
    double without_ns[WAKE_PAIRS_MAX];
    int pairs;
};

/* Adds the lateness of two windows that follow each other. Pairs beyond WAKE_PAIRS_MAX (85 minutes, at 5 s) are not added. */
void wake_comparison_add(struct wake_comparison *comparison, int64_t with_ns, int64_t without_ns);

enum wake_verdict {
    WAKE_TOO_FEW,       /* fewer than three pairs */
    WAKE_NO_DIFFERENCE, /* or none that these windows can show */
    WAKE_HELPED,
    WAKE_HARMED,
};

struct wake_result {
    enum wake_verdict verdict;
    double with_ns;    /* the medians of the windows */
    double without_ns;
};

/*
 * Compares. The reservations helped if the median with them is less than 0.8 of the one without and at least 0.1 ms less, and
 * if at least four of five pairs agree. They harmed if the same holds the other way round.
 */
struct wake_result wake_comparison_result(const struct wake_comparison *comparison);

#endif
