/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The longest time without a new picture, from the rows of a run. Pure; times are in ns. */
#ifndef PLAYER_FREEZE_H
#define PLAYER_FREEZE_H

#include "frame_record.h"

#include <stdint.h>

/*
 * Returns the longest time from one shown picture to the next one that was shown, or, if pictures were dropped at
 * the end, to the time at which the last of these was due. A pause or a seek does not count. A jump of the time stamps is no
 * freeze by itself, but if the picture stands until the sound behind it is heard, that counts. Rows from a file do not say how
 * long each picture stood (frame_record.h): there a stop of the clock counts as a pause, and if a pause and a seek are between
 * the same two pictures, the shorter one counts. FIELD_EMPTY if no picture was shown, or there is no memory.
 */
int64_t freeze_longest_ns(const struct frame_record *rows, int64_t count);

/*
 * Returns the rows that were shown, in the order of the times at which they were; *shown_count becomes their number. The caller
 * frees the array; its pointers point into rows. NULL without memory.
 */
const struct frame_record **freeze_shown_rows(const struct frame_record *rows, int64_t count, int64_t *shown_count);

/* Returns how long picture a was on the screen until b was shown. A pause or a seek between them does not count. */
int64_t freeze_between_ns(const struct frame_record *a, const struct frame_record *b);

#endif
