/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Follows the picture rate over repeated detections. Seed 003 (section IV) repeats the detection while the program runs, and says
 * no more. Our rules: the first rate found is taken at once. Another rate, or the verdict "not periodic", replaces it only if
 * two detections in a row agree; a single one may have seen the end of one film and the beginning of the next. One exception:
 * while the known rate was seen only once, and is no usual picture rate, a usual one replaces it at once. A detection without
 * enough events, as in a pause, changes nothing; the detections before and after it are in a row. Each detection must have
 * observed a time of its own: two that overlap may both have seen the same change, and confirm a rate between two films.
 */
#ifndef SCHED_RATE_WATCH_H
#define SCHED_RATE_WATCH_H

#include "period_vote.h"

#include <stdbool.h>
#include <stdint.h>

/* Begins as zero. `known` is for reading; its verdict is PERIOD_UNKNOWN until a first verdict. */
struct rate_watch {
    struct picture_rate known;
    bool is_confirmed;                 /* `known` was seen twice */
    struct picture_rate awaits_second; /* seen once, and different from `known`; PERIOD_UNKNOWN: none */
};

/* When a program was watched, for rate_watch_is_due. Times of one clock. */
struct rate_watch_times {
    int64_t now_ns;
    int64_t begun_ns;    /* since when it is watched */
    int64_t window_ns;   /* since when the next detection may look */
    int64_t detected_ns; /* the last detection; begun_ns: there was none */
    bool is_checked;     /* there was a detection after the one that found the known rate */
    bool is_urgent;      /* a rate is waited for, because threads starve or are on trial */
};

/*
 * True if the next detection is due. Without a rate a program is looked at from its first second on, as often as the caller asks. One
 * that is not periodic, as a program that converts films, is looked at every 4 s after its first 8 s, unless it is urgent: a detection
 * that finds nothing costs most, because such a program has thousands of jobs. A known rate is confirmed or corrected after 2 s,
 * and then looked at every 4 s, which tell 23.976 from 24 Hz.
 */
bool rate_watch_is_due(const struct rate_watch *watch, const struct rate_watch_times *times);

/* Adds a detection. Returns true if the known rate is now another one, or has become known or not periodic. */
bool rate_watch_add(struct rate_watch *watch, const struct picture_rate *seen);

#endif
