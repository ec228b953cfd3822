/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A request to stop decoding, for a seek or the end. While it lasts, the decode of every droppable picture is given up, in
 * all threads that decode one.
 */
#ifndef PLAYER_DECODE_STOP_H
#define PLAYER_DECODE_STOP_H

#include <dlex/trigger.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Zero: nothing is requested. */
struct decode_stop {
    struct dlex_trigger trigger; /* ends a decode that is left by a jump */
    atomic_bool requested;       /* ends a decode that is polled. Relaxed: it publishes no other data */
};

/* Any thread. */
static inline void decode_stop_request(struct decode_stop *stop)
{
    atomic_store_explicit(&stop->requested, true, memory_order_relaxed);
    dlex_trigger_fire(&stop->trigger);
}

/* Any thread. */
static inline bool decode_stop_is_requested(const struct decode_stop *stop)
{
    return atomic_load_explicit(&stop->requested, memory_order_relaxed);
}

/* The thread that gives packets to the decoder: takes the request back. */
static inline void decode_stop_reset(struct decode_stop *stop)
{
    atomic_store_explicit(&stop->requested, false, memory_order_relaxed);
    dlex_trigger_reset(&stop->trigger);
}

#endif
