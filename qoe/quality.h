/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Summarizes a run in a few numbers. */
#ifndef QOE_QUALITY_H
#define QOE_QUALITY_H

#include "drops.h"
#include "lip_sync_time.h"

#include <stdint.h>

/* Percentiles are interpolated between the nearest two values. sd is that of a sample (n - 1). */
struct spread {
    int64_t count;
    double sum;
    double mean;
    double sd;
    double median;
    double p90;
    double p99;
};

/*
 * Sorts the values and returns their spread. Without values, all members but sum and count are NaN.
 */
struct spread spread_of(double *values, int64_t count);

struct quality {
    int64_t frames; /* shown + dropped */
    int64_t shown;
    int64_t dropped; /* aborted + skipped + late + unseen */
    int64_t aborted;
    int64_t skipped;
    int64_t late;
    int64_t unseen;           /* never seen on the screen, in a record made from outside the player */
    int64_t degraded;         /* shown without their loop filter */
    int64_t drifted;          /* shown, and perhaps different because they refer to such pictures */
    int64_t before_first;     /* dropped while there was nothing on the screen yet */
    int64_t longest_drop_run; /* pictures dropped in a row */
    double longest_freeze_ms; /* the longest time without a new picture, see freeze.h; NaN: none was shown */
    struct spread rmse_8bit;  /* over the dropped pictures */
    double degraded_rmse_8bit; /* the sum over the degraded pictures; NaN: they were not compared */
    double drifted_rmse_8bit;  /* the same of the drifted ones */
    double rmse_sum_8bit;      /* over all pictures that were compared */
    struct spread skew_ms;    /* A-V of the shown pictures; > 0: the video is late */
    struct lip_sync_time lip_sync;
};

/* Computes the numbers. Returns 0 or -ENOMEM. */
int quality_of(struct quality *quality, const struct frame_record *rows, int64_t count,
               const struct drop *drops, int64_t drop_count);

#endif
