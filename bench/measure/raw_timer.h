/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's own latency: a timer's expiry to the signal handler of a thread that computes. */
#ifndef RAW_TIMER_H
#define RAW_TIMER_H

#include <stdint.h>
#include <time.h>

struct raw_timer {
    timer_t id;
    clockid_t clock;
};

/*
 * A timer that signals the calling thread (SIGRTMIN+3, whose handler it sets), on CLOCK_MONOTONIC
 * or CLOCK_THREAD_CPUTIME_ID. Returns 0 or a negative errno; after 0 raw_timer_finish() frees it.
 */
int raw_timer_init(struct raw_timer *timer, clockid_t clock);
void raw_timer_finish(struct raw_timer *timer);

/*
 * Arms it and computes until the handler has run; only on the thread that made it, one at a time.
 * Returns how late the handler read the timer's clock, or a negative errno.
 */
int64_t raw_timer_latency_ns(const struct raw_timer *timer, int64_t delay_ns);

#endif
