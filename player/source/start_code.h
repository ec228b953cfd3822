/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The start codes of MPEG's byte streams: two zero bytes and a one. */
#ifndef PLAYER_START_CODE_H
#define PLAYER_START_CODE_H

#include "bits.h"

#include <libavutil/intreadwrite.h>

/* Moves behind the next start code. Returns false if there is none with a byte behind it. */
static inline bool find_start_code(struct bytes *bytes)
{
    enum { SIZE = 3 };
    for (; bytes_left(bytes) > SIZE; bytes->at++) {
        if (AV_RB24(bytes->at) == 1) {
            bytes->at += SIZE;
            return true;
        }
    }
    return false;
}

#endif
