/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long pictures stood on the screen, and the longest time without a new one, from the rows of a run. Pure; times are in ns.
 * dlex-play, dlex-qoe and the simulation ask here, so that their figures agree.
 */
#ifndef PLAYER_FREEZE_H
#define PLAYER_FREEZE_H

#include "frame_record.h"

#include <stdint.h>

/*
 * Returns the longest time from one shown picture to the next one that was shown, or, if pictures were dropped at
 * the end, to the time at which the last of these was due. A pause or a seek does not count. A jump of the time stamps is no
 * freeze by itself, but if the picture stands until the sound behind it is heard, that counts. So does a stop of the clock that
 * is not a pause of the player: of the sound's device, or of the program. FIELD_EMPTY if no picture was shown, or there is no
 * memory.
 */
int64_t freeze_longest_ns(const struct frame_record *rows, int64_t count);

/*
 * Returns the rows that were shown, in the order of the times at which they were; *shown_count becomes their number. The caller
 * frees the array; its pointers point into rows. NULL without memory.
 */
const struct frame_record **freeze_shown_rows(const struct frame_record *rows, int64_t count, int64_t *shown_count);

/*
 * Returns how long a shown picture was on the screen: its stood_ns (frame_record.h). next is the one that was shown after it, or
 * NULL. A row of an old record does not say how long it stood. There a stop of the clock counts as a pause, and if a pause and a
 * seek are between two pictures, the shorter of both counts as well.
 */
int64_t freeze_stood_ns(const struct frame_record *row, const struct frame_record *next);

/*
 * Sets stood_ns of each shown row to the time until the next one was shown, 0 for the last one: for a run without pauses and seeks.
 * Returns 0 or -ENOMEM.
 */
int freeze_note_stood(struct frame_record *rows, int64_t count);

#endif
