/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures the kernel's own latency: from a timer's expiry to the signal handler of a thread that
 * computes.
 */
#ifndef RAW_TIMER_H
#define RAW_TIMER_H

#include <stdint.h>
#include <time.h>

struct raw_timer {
    timer_t id;
    clockid_t clock;
};

/*
 * Creates a timer that signals the calling thread (SIGRTMIN+3; its handler is set as well), on
 * CLOCK_MONOTONIC or CLOCK_THREAD_CPUTIME_ID. Returns 0 or a negative errno; after 0,
 * raw_timer_finish() frees the timer.
 */
int raw_timer_init(struct raw_timer *timer, clockid_t clock);
void raw_timer_finish(struct raw_timer *timer);

/*
 * Arms the timer and computes until its handler has run. Only the thread that created the timer may
 * call this, for one timer at a time. Returns how late the handler read the timer's clock, or a
 * negative errno.
 */
int64_t raw_timer_latency_ns(const struct raw_timer *timer, int64_t delay_ns);

#endif
