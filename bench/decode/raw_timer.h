/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's own latency: a timer's expiry to the signal handler of a thread that computes. */
#ifndef RAW_TIMER_H
#define RAW_TIMER_H

#include <stdint.h>
#include <time.h>

/* A CLOCK_MONOTONIC timer that signals the calling thread. Returns 0 or a negative errno. */
int raw_timer_create(timer_t *timer);

/* Arms it and computes until the handler has run. Returns how late that was or a negative errno. */
int64_t raw_timer_latency_ns(timer_t timer, int64_t delay_ns);

#endif
