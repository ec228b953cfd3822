/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stamp.h"

enum { GREEN_SHIFT = 8, DARK_BELOW = 96, BRIGHT_FROM = 160, UNCLEAR = -1 };

/*
 * Green contributes most of the brightness. It is in the middle of a pixel, in either order of the other two colours.
 */
static int bit_at(const volatile uint32_t *line, int block)
{
    const unsigned green = line[STAMP_BLOCK * block + STAMP_BLOCK / 2] >> GREEN_SHIFT & 0xff;
    return green < DARK_BELOW ? 0 : green >= BRIGHT_FROM ? 1 : UNCLEAR;
}

int stamp_read(const volatile uint32_t *line)
{
    const int last = STAMP_BLOCKS - 1;
    if (bit_at(line, 0) != 1 || bit_at(line, 1) != 0 || bit_at(line, last - 1) != 0 || bit_at(line, last) != 1)
        return STAMP_NONE;
    int number = 0;
    int bit = 0;
    for (int i = 0; i < STAMP_BITS; i++) {
        const int gray = bit_at(line, 2 + i);
        if (gray == UNCLEAR)
            return STAMP_NONE;
        bit ^= gray; /* a bit is the exclusive or of all Gray bits from the most significant one to its own */
        number = 2 * number + bit;
    }
    return number;
}
