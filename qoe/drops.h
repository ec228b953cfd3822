/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the dropped pictures of a run cost: each one's ideal picture beside what stood on the screen
 * instead, the last picture shown before it (seed 000, 8.3, quality of experience). Before the first
 * one the seed names nothing; a window without a picture is black, and that is what was seen: to
 * count such a drop as nothing would make a player better the later it begins.
 */
#ifndef QOE_DROPS_H
#define QOE_DROPS_H

#include "frame_record.h"
#include "ideal.h"
#include "rgb_converter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct drop {
    const struct frame_record *row;
    const struct frame_record *shown; /* what was on the screen; NULL: nothing yet, it was black */
    double rmse_8bit;
};

/*
 * Aborted, skipped, late or unseen. Rows with the verdict none are no part of the playback, such as
 * those before the part that was played (dlex-play --start).
 */
bool was_dropped(const struct frame_record *row);

/*
 * Compares every dropped row. *drops, in the order of the rows, belongs to the caller (free); its
 * pointers point into rows. The converter is one of rgb_converter_init and tells afterwards how
 * pictures were converted. Returns the number of drops, or a negative AVERROR with a sentence's
 * middle in why.
 */
int64_t drops_compare(struct drop **drops, const struct frame_record *rows, int64_t count,
                      struct ideal *ideal, struct rgb_converter *converter, char *why,
                      size_t why_size);

#endif
