/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Peaks in the spectrum of a thread's jobs, in units of what random events would make. */
#ifndef SCHED_PEAKS_H
#define SCHED_PEAKS_H

#include "job_times.h"
#include "spectrum.h"

#include <stdbool.h>

/* The range of peaks. Below, slow changes of load would show; a lower rate shows by its multiples, or to period_part_of. */
#define PEAKS_FROM_HZ 5.0
#define PEAKS_TO_HZ   200.0

struct peaks {
    const struct job_times *jobs;
    struct spectrum *spectrum; /* with powers in units of the mean that random events have */
    double needed;             /* power of a peak that random events do not make */
    double near_hz;            /* half of the distance at which two frequencies can be told apart */
};

/* Returns the power that a peak of these jobs needs. No peak has more power than there are jobs, so fewer jobs can have none. */
double peaks_needed(const struct job_times *jobs);

/* Samples the spectrum. Both pointers must live as long as the peaks. jobs->count >= 10. */
void peaks_init(struct peaks *peaks, const struct job_times *jobs, struct spectrum *spectrum);

/* Finds the highest peak with at least this power. Returns false if there is none. */
bool peaks_strongest(const struct peaks *peaks, double least, double *hz, double *power);

/* Returns the highest power within hz +/- within_hz. */
double peaks_power_near(const struct peaks *peaks, double hz, double within_hz);

/* Finds the highest power within hz +/- within_hz if it is needed's at least. Returns false if it is lower. */
bool peaks_find_near(const struct peaks *peaks, double hz, double within_hz, double *found_hz);

/* Removes the peaks at all multiples of a rate, with their side lobes. */
void peaks_remove(struct peaks *peaks, double base_hz);

#endif
