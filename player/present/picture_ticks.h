/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Gives a graph of processes (PMan, seed 002) a tick at each picture that is shown, so that they work in step with the film. Main
 * thread.
 */
#ifndef PLAYER_PICTURE_TICKS_H
#define PLAYER_PICTURE_TICKS_H

#include <stdint.h>

struct pman;

/* Begins as zero: no ticks are wanted. */
struct picture_ticks {
    struct pman *pman;  /* NULL: there is no table, or no longer */
    const char *table;  /* its name, for messages; the caller's */
};

/* Opens the table with this name. Returns 0, or a negative errno after a message. */
int picture_ticks_open(struct picture_ticks *ticks, const char *table);

/* A picture was shown at this time, which is not in the future. Takes some microseconds. When the graph has ended, says so once. */
void picture_ticks_give(struct picture_ticks *ticks, int64_t shown_ns);

/* May be called for one that was never opened. */
void picture_ticks_close(struct picture_ticks *ticks);

#endif
