/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures the error of the dropped pictures of a run. Each one's ideal picture is compared with
 * what was on the screen instead, the last picture shown before it (seed 000, 8.3, quality of
 * experience). For a drop before the first shown picture, the seed names nothing to compare with. A
 * window without a picture is black, and that is what the viewer saw. If such a drop counted as
 * nothing, a player would look better the later it begins.
 */
#ifndef QOE_DROPS_H
#define QOE_DROPS_H

#include "frame_record.h"
#include "ideal.h"
#include "played.h"
#include "rgb_converter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A picture that was not on the screen as it should have been: it was dropped, or it was shown degraded. */
struct drop {
    const struct frame_record *row;
    const struct frame_record *shown; /* what was on the screen; NULL: nothing yet, so it was black; row itself: it was degraded */
    double rmse_8bit;
};

/*
 * Returns true for an aborted, skipped, late or unseen picture. Rows with the verdict none are not
 * part of the playback, for example those before the part that was played (dlex-play --start).
 */
bool was_dropped(const struct frame_record *row);

/*
 * Compares every dropped row with what was on the screen, and every shown one that was degraded with the picture as it should be.
 * played is NULL if no picture was degraded, or if degraded ones are not to be compared. *drops is in the order of the rows and
 * belongs to the caller (free); its pointers point into rows. The converter comes from rgb_converter_init and holds afterwards
 * how pictures were converted. Returns the number of drops, or a negative AVERROR with the cause in why, as a clause ("it has no
 * picture at 1.000 s").
 */
int64_t drops_compare(struct drop **drops, const struct frame_record *rows, int64_t count,
                      struct ideal *ideal, struct played *played, struct rgb_converter *converter, char *why,
                      size_t why_size);

#endif
