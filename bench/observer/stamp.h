/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The number that a stamped picture carries along its top edge and again along its bottom edge (media/stamps.py): a
 * 12-bit Gray code in blocks of 32 x 32 pixels. On its left are a white and a black block, on its right a black and a
 * white one.
 *
 * Pure. It reads at most 16 pixels per stamp, so that it can run thousands of times a second.
 */
#ifndef OBSERVER_STAMP_H
#define OBSERVER_STAMP_H

#include <stddef.h>
#include <stdint.h>

enum {
    STAMP_BLOCK = 32,
    STAMP_BITS = 12,
    STAMP_BLOCKS = STAMP_BITS + 4,
    STAMP_WIDTH = STAMP_BLOCK * STAMP_BLOCKS,
    STAMP_NUMBERS = 1 << STAMP_BITS,
    STAMP_NONE = -1, /* there is no stamp: another window, an empty screen, or a picture just being drawn over */
};

/*
 * line: the pixels of a line through the middle of the blocks, 32 bits each, beginning at the left edge of the picture.
 * Their owner may write them at the same time; each pixel is read once. Returns the number or STAMP_NONE.
 */
int stamp_read(const volatile uint32_t *line);

#endif
