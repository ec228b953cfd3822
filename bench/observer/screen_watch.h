/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looks at the stamps on the screen at a fixed rate and records when they change.
 *
 * screen_watch_init reserves all memory. While the watch runs, it allocates nothing and writes nothing. It cannot see a
 * picture that was on the screen for less than a period. run.json records how late the looks came.
 */
#ifndef OBSERVER_SCREEN_WATCH_H
#define OBSERVER_SCREEN_WATCH_H

#include "xwd_screen.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The numbers that were on the screen from the look at time_ns (CLOCK_MONOTONIC, read just before the pixels) to the
 * look at last_ns; STAMP_NONE: no stamp. What was on the screen between last_ns and the next change is unknown.
 */
struct screen_change {
    int64_t time_ns;
    int top;
    int bottom;
    int64_t last_ns;
};

/* Returns true for two pictures at once: one was being drawn over the other. */
bool is_torn(const struct screen_change *seen);

/* Lateness of the looks in whole microseconds. The last counter holds all looks that were later. */
enum { LATENESS_COUNTERS = 20000 };

struct screen_watch {
    const struct xwd_screen *screen;
    int picture_height; /* the bottom stamp is at its lower edge */
    int64_t period_ns;
    struct screen_change *change;
    size_t change_room;
    size_t change_count;
    int64_t changes_lost; /* changes that did not fit in change_room */
    int64_t looks;
    int64_t looks_torn;
    int64_t looks_missed; /* periods without a look */
    int64_t worst_late_ns;
    uint32_t *lateness; /* LATENESS_COUNTERS */
    bool screen_lost;
};

/* Returns 0 or -ENOMEM. The screen must outlive the watch. screen_watch_finish accepts a watch of zeros. */
int screen_watch_init(struct screen_watch *watch, const struct xwd_screen *screen, int picture_height, double rate_hz,
                      size_t change_room);
void screen_watch_finish(struct screen_watch *watch);

/* Watches on the calling thread until *stop is set, or until the screen is gone (screen_lost). */
void screen_watch_run(struct screen_watch *watch, const atomic_bool *stop);

/*
 * Returns the lateness that this fraction of the looks did not exceed, in ns (the counters' microseconds, rounded up).
 */
int64_t screen_watch_lateness_ns(const struct screen_watch *watch, double fraction);

#endif
