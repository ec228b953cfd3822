/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "screen_watch.h"

#include "ns.h"
#include "stamp.h"

#include <dlex/dlex.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The time between two checks whether the X server is still there: a tenth of a second. */
static const int64_t question_period_ns = NS_PER_S / 10;

static const struct screen_change nothing_seen = {.top = STAMP_NONE, .bottom = STAMP_NONE};

int screen_watch_init(struct screen_watch *watch, const struct xwd_screen *screen, int picture_height, double rate_hz,
                      size_t change_room)
{
    *watch = (struct screen_watch){
        .screen = screen,
        .picture_height = picture_height,
        .period_ns = (int64_t)(NS_PER_S / rate_hz),
        .change = malloc(change_room * sizeof *watch->change),
        .change_room = change_room,
        .lateness = calloc(LATENESS_COUNTERS, sizeof *watch->lateness),
    };
    if (!watch->change || !watch->lateness) {
        screen_watch_finish(watch);
        return -ENOMEM;
    }
    memset(watch->change, 0, change_room * sizeof *watch->change); /* so that no page fault comes later */
    return 0;
}

void screen_watch_finish(struct screen_watch *watch)
{
    free(watch->change);
    free(watch->lateness);
    *watch = (struct screen_watch){0};
}

bool is_torn(const struct screen_change *seen)
{
    return seen->top != STAMP_NONE && seen->bottom != STAMP_NONE && seen->top != seen->bottom;
}

static struct screen_change look(const struct screen_watch *watch)
{
    const int middle = STAMP_BLOCK / 2;
    const int64_t now_ns = dlex_now_ns();
    return (struct screen_change){
        .time_ns = now_ns,
        .last_ns = now_ns,
        .top = stamp_read(xwd_screen_line(watch->screen, middle)),
        .bottom = stamp_read(xwd_screen_line(watch->screen, watch->picture_height - middle)),
    };
}

static void note(struct screen_watch *watch, const struct screen_change *seen)
{
    struct screen_change *const noted = watch->change_count ? &watch->change[watch->change_count - 1] : NULL;
    const struct screen_change *const before = noted ? noted : &nothing_seen;
    if (seen->top != before->top || seen->bottom != before->bottom) {
        if (watch->change_count < watch->change_room)
            watch->change[watch->change_count++] = *seen;
        else
            watch->changes_lost++;
    } else if (noted && !watch->changes_lost) {
        noted->last_ns = seen->last_ns;
    }
}

static void count_lateness(struct screen_watch *watch, int64_t late_ns)
{
    const int64_t late_us = late_ns > 0 ? (late_ns + NS_PER_US - 1) / NS_PER_US : 0;
    watch->looks++;
    watch->lateness[late_us < LATENESS_COUNTERS ? late_us : LATENESS_COUNTERS - 1]++;
    if (late_ns > watch->worst_late_ns)
        watch->worst_late_ns = late_ns;
}

static void sleep_until(int64_t time_ns)
{
    const struct timespec at = {.tv_sec = time_ns / NS_PER_S, .tv_nsec = time_ns % NS_PER_S};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL); /* on EINTR, *stop is checked, or the look is early */
}

/* What a guarded read needs. It owns nothing, so nothing is lost when a jump leaves the read. */
struct round {
    struct screen_watch *watch;
    const atomic_bool *stop;
};

static void look_again_and_again(void *opaque)
{
    const struct round *const round = opaque;
    struct screen_watch *const watch = round->watch;
    int64_t due_ns = dlex_now_ns();
    int64_t question_ns = due_ns;
    while (!atomic_load_explicit(round->stop, memory_order_relaxed)) {
        const struct screen_change seen = look(watch);
        note(watch, &seen);
        watch->looks_torn += is_torn(&seen);
        count_lateness(watch, seen.time_ns - due_ns);
        if (seen.time_ns >= question_ns) {
            if (!xwd_screen_is_there(watch->screen)) {
                watch->screen_lost = true;
                return;
            }
            question_ns = seen.time_ns + question_period_ns;
        }
        const int64_t missed = (seen.time_ns - due_ns) / watch->period_ns;
        watch->looks_missed += missed;
        due_ns += (missed + 1) * watch->period_ns;
        sleep_until(due_ns);
    }
}

void screen_watch_run(struct screen_watch *watch, const atomic_bool *stop)
{
    struct round round = {watch, stop};
    if (xwd_screen_guard(look_again_and_again, &round))
        watch->screen_lost = true;
}

int64_t screen_watch_lateness_ns(const struct screen_watch *watch, double fraction)
{
    const int64_t wanted = (int64_t)((double)watch->looks * fraction);
    int64_t seen = 0;
    for (int late_us = 0; late_us < LATENESS_COUNTERS - 1; late_us++) {
        seen += watch->lateness[late_us];
        if (seen >= wanted)
            return (int64_t)late_us * NS_PER_US;
    }
    return watch->worst_late_ns;
}
