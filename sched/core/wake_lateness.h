/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How late a periodic thread wakes up, and whether reservations have made it wake up earlier. Ours; seed 003 measures the times
 * between pictures instead, which only the player knows.
 *
 * A player sleeps until its next picture is due. How late it gets the CPU then shows in its context switches: the beginnings of
 * its jobs lie on a grid of one period, and late ones lie behind it. What counts as in time is the tenth percentile of a
 * window's jobs, because the few earliest ones may be a second job of the same period.
 */
#ifndef SCHED_WAKE_LATENESS_H
#define SCHED_WAKE_LATENESS_H

#include "period.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Writes the 95th percentile of how late the jobs of a window began, in ns. Of each period the job nearest to the grid counts.
 * The events must be in ascending order of time; hz > 0. Returns 0, or -ENODATA if fewer than 20 periods have a job.
 */
int wake_lateness(int64_t *late_ns, const struct thread_event *events, int64_t count, double hz, struct period_work *work);

enum { WAKE_WINDOWS_MAX = 512 };

/* Windows with and without reservations, in turn. Begins as zero. */
struct wake_comparison {
    double with_ns[WAKE_WINDOWS_MAX];
    double without_ns[WAKE_WINDOWS_MAX];
    int with;
    int without;
};

/* Adds the lateness of a window. Windows beyond WAKE_WINDOWS_MAX of a kind (43 minutes of each, at 5 s) are not added. */
void wake_comparison_add(struct wake_comparison *comparison, bool is_with, int64_t late_ns);

enum wake_verdict {
    WAKE_TOO_FEW,       /* fewer than three windows of a kind */
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
 * if at least four of five pairs of windows, one with and the next without, agree. They harmed if the same holds the other way
 * round.
 */
struct wake_result wake_comparison_result(const struct wake_comparison *comparison);

#endif
