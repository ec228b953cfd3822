/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Follows the picture rate over repeated detections. Seed 003 (section IV) repeats the detection while the program runs, and says
 * no more. Our rules: the first rate found is taken at once. Another rate, or the verdict "not periodic", replaces it only if
 * two detections in a row agree, or if it is a usual picture rate and the known one is none; a single one may have seen the end of one film and the beginning of the next. A detection
 * without enough events, as in a pause, changes nothing; the detections before and after it are in a row. Each detection must
 * have observed a time of its own: two that overlap may both have seen the same change, and confirm a rate between two films.
 */
#ifndef SCHED_RATE_WATCH_H
#define SCHED_RATE_WATCH_H

#include "period_vote.h"

#include <stdbool.h>

/* Begins as zero. `known` is for reading; its verdict is PERIOD_UNKNOWN until a first verdict. */
struct rate_watch {
    struct picture_rate known;
    struct picture_rate awaits_second; /* seen once, and different from `known`; PERIOD_UNKNOWN: none */
};

/* Adds a detection. Returns true if the known rate is now another one, or has become known or not periodic. */
bool rate_watch_add(struct rate_watch *watch, const struct picture_rate *seen);

#endif
