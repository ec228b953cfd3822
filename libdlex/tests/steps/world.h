/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * world.h: what the kernel does for libdlex, done by the test: the two clocks and the timer. The
 * program defines clock_gettime, timer_create, timer_settime and timer_delete itself, so that the
 * library that is tested is the one that is installed. Time stands still until somebody moves it:
 * the scenario, by world_pass, or the tracer, from outside. A timer that is due sends the signal
 * of libdlex, once, also when it is set to a time in the past, as the kernel's does.
 *
 * All of it is memory of one process: a fork copies the world with the rest.
 */
#ifndef STEPS_WORLD_H
#define STEPS_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#define MS INT64_C(1000000)

/* Where both clocks begin: years from now, so that nothing real is ever due. */
#define WALL_START (INT64_C(1) << 60)
#define CPU_START  (INT64_C(1) << 50)
/* How far a scenario moves the clocks to let the nearer of its constraints expire; the tracer
 * moves them to LATER, past all that may expire. Limits lie at 1 ms, 3 ms and an hour. */
#define SOONER (2 * MS)
#define LATER  (4 * MS)
#define NEAR   (1 * MS)
#define NEXT   (3 * MS)
#define FAR    (3600 * 1000 * MS)

struct world {
    int64_t signal;    /* what the timer sends; the first field, see world_fire */
    int64_t wall_ns;
    int64_t cpu_ns;
    int64_t expiry_ns; /* of the timer; 0: not set */
    int64_t mute;      /* due timers send no signal: it is lost, or comes too late */
    int64_t length;    /* of the log */
    int64_t spoilt;    /* the first mark that found a changed signal mask or control word */
    char log[32];
};

extern struct world world;

/* Lets this much time pass on both clocks. */
void world_pass(int64_t ns);
/* Sends the signal to this thread. From world_fire_end on it is on its way. */
void world_fire(void);
void world_fire_end(void);

/* Appends a letter to the log of what ran, and looks at the signal mask and the control words. */
void mark(char letter);

/* Sets the signal mask and the control words to what no program has by chance. */
void context_set(void);
bool context_is_as_set(void);

#endif
