/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the bits of a header, most significant first. Beyond the end all bits are 0, and `ended` is set; so a parser may
 * read on and look once, at its end.
 */
#ifndef PLAYER_BITS_H
#define PLAYER_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
    const uint8_t *at;
    const uint8_t *end;
};

struct bits {
    struct bytes bytes; /* at: the byte with the next bit */
    int used;           /* bits of that byte that were read */
    bool ended;         /* a bit beyond the end was read */
};

static inline size_t bytes_left(const struct bytes *bytes)
{
    return (size_t)(bytes->end - bytes->at);
}

static inline bool bits_flag(struct bits *bits)
{
    if (bits->bytes.at == bits->bytes.end) {
        bits->ended = true;
        return false;
    }
    const bool flag = *bits->bytes.at >> (7 - bits->used) & 1;
    bits->used = (bits->used + 1) % 8;
    bits->bytes.at += bits->used == 0;
    return flag;
}

/* Reads a number of up to 32 bits. */
static inline uint32_t bits_read(struct bits *bits, int count)
{
    uint32_t value = 0;
    while (count-- > 0)
        value = value << 1 | bits_flag(bits);
    return value;
}

static inline void bits_skip(struct bits *bits, int count)
{
    while (count-- > 0)
        bits_flag(bits);
}

#endif
