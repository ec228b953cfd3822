/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rate_watch.h"

#include "ns.h"

/* 25 Hz takes a second. */
static const int64_t first_window_ns = NS_PER_S;
static const int64_t confirming_window_ns = 2 * NS_PER_S;
static const int64_t window_ns = 4 * NS_PER_S;
static const int64_t hurry_ns = 8 * NS_PER_S;

static bool agree(const struct picture_rate *a, const struct picture_rate *b)
{
    if (a->verdict != b->verdict)
        return false;
    return a->verdict != PERIOD_FOUND || standard_rate_same(a->hz, a->sd_hz, b->hz, b->sd_hz);
}

/* Of two measurements of one rate the more certain one is kept. */
static void confirm(struct picture_rate *known, const struct picture_rate *seen)
{
    if (seen->verdict == PERIOD_FOUND && seen->sd_hz <= known->sd_hz)
        *known = *seen;
}

bool rate_watch_add(struct rate_watch *watch, const struct picture_rate *seen)
{
    if (seen->verdict == PERIOD_UNKNOWN)
        return false;
    if (agree(&watch->known, seen)) {
        confirm(&watch->known, seen);
        watch->is_confirmed = true;
        watch->awaits_second.verdict = PERIOD_UNKNOWN;
        return false;
    }
    const bool is_second = agree(&watch->awaits_second, seen);
    const bool is_better = !watch->is_confirmed && seen->standard.numerator && !watch->known.standard.numerator;
    if (watch->known.verdict == PERIOD_FOUND && !is_better && !is_second) {
        watch->awaits_second = *seen;
        return false;
    }
    watch->known = *seen;
    watch->is_confirmed = is_second;
    watch->awaits_second.verdict = PERIOD_UNKNOWN;
    return true;
}

bool rate_watch_is_due(const struct rate_watch *watch, const struct rate_watch_times *times)
{
    const int64_t waited_ns = times->now_ns - times->window_ns;
    if (watch->known.verdict == PERIOD_FOUND)
        return waited_ns >= (times->is_checked ? window_ns : confirming_window_ns);
    const bool may_wait = watch->known.verdict == PERIOD_NONE && !times->is_urgent && times->now_ns - times->begun_ns >= hurry_ns;
    return waited_ns >= first_window_ns && (!may_wait || times->now_ns - times->detected_ns >= window_ns);
}
