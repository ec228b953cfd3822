/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looks at the stamps on the screen at a fixed rate and notes when they change.
 *
 * All memory is reserved by screen_watch_init; while it watches nothing is allocated or written. What it cannot see is
 * a picture that stood for less than a period: run.json tells how late the looks came.
 */
#ifndef OBSERVER_SCREEN_WATCH_H
#define OBSERVER_SCREEN_WATCH_H

#include "xwd_screen.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * These numbers, or STAMP_NONE, stood there from the look at time_ns (CLOCK_MONOTONIC, read just before the pixels) to
 * the look at last_ns. What came between that one and the next change nobody knows.
 */
struct screen_change {
    int64_t time_ns;
    int top;
    int bottom;
    int64_t last_ns;
};

/* Two pictures at once: one was being drawn over the other. */
bool is_torn(const struct screen_change *seen);

/* Lateness of the looks in whole microseconds; the last counter holds all that were later. */
enum { LATENESS_COUNTERS = 20000 };

struct screen_watch {
    const struct xwd_screen *screen;
    int picture_height; /* the bottom stamp stands at the end of that */
    int64_t period_ns;
    struct screen_change *change;
    size_t change_room;
    size_t change_count;
    int64_t changes_lost; /* the room was used up */
    int64_t looks;
    int64_t looks_torn;
    int64_t looks_missed; /* periods in which there was none */
    int64_t worst_late_ns;
    uint32_t *lateness; /* LATENESS_COUNTERS */
    bool screen_lost;
};

/* Returns 0 or -ENOMEM. The screen must outlive it. screen_watch_finish accepts a watch of zeros. */
int screen_watch_init(struct screen_watch *watch, const struct xwd_screen *screen, int picture_height, double rate_hz,
                      size_t change_room);
void screen_watch_finish(struct screen_watch *watch);

/* Watches in this thread until *stop is set, or until the screen is gone (screen_lost). */
void screen_watch_run(struct screen_watch *watch, const atomic_bool *stop);

/* The lateness that this fraction of the looks did not exceed, in ns (the counters' microseconds, rounded up). */
int64_t screen_watch_lateness_ns(const struct screen_watch *watch, double fraction);

#endif
