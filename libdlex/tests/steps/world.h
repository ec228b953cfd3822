/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * world.h: the test's replacement for what the kernel does for libdlex: the two clocks and the timer. The program itself
 * defines clock_gettime, timer_create, timer_settime and timer_delete, so the tested library is the unchanged one. Time
 * stands still until the scenario moves it by world_pass, or the tracer moves it from outside. A timer that is due sends
 * the signal of libdlex once, also if it is set to a time in the past, as a timer of the kernel does.
 *
 * The world is memory of one process, so a fork copies it.
 */
#ifndef STEPS_WORLD_H
#define STEPS_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include <dlex/trigger.h>

#define MS INT64_C(1000000)

/* The start of both clocks: years ahead, so that no real time is ever due. */
#define WALL_START (INT64_C(1) << 60)
#define CPU_START  (INT64_C(1) << 50)
/* A scenario moves the clocks by SOONER, to let the earlier of its constraints expire. The tracer moves them to LATER,
 * past all constraints that may expire. The limits are 1 ms, 3 ms and an hour. */
#define SOONER (2 * MS)
#define LATER  (4 * MS)
#define NEAR   (1 * MS)
#define NEXT   (3 * MS)
#define FAR    (3600 * 1000 * MS)

struct world {
    int64_t signal;    /* the signal that the timer sends; must be the first field, see world_fire */
    int64_t wall_ns;
    int64_t cpu_ns;
    int64_t expiry_ns; /* expiry of the timer; 0: not set */
    int64_t mute;      /* due timers send no signal: it is lost or comes too late */
    int64_t length;    /* length of the log */
    int64_t spoilt;    /* the first mark that found a changed signal mask or control word */
    char log[32];
    struct dlex_trigger trigger; /* the tracer fires it */
};

extern struct world world;

/* Lets this much time pass on both clocks. */
void world_pass(int64_t ns);
/* Sends the signal to this thread. At world_fire_end the signal has been sent. */
void world_fire(void);
void world_fire_end(void);

/* Appends a letter to the log of what ran, and checks the signal mask and the control words. */
void mark(char letter);

/* Sets the signal mask and the control words to values that no program has by chance. */
void context_set(void);
bool context_is_as_set(void);

#endif
