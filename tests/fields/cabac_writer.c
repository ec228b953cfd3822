/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cabac_writer.h"

#include <assert.h>

enum { STATES = 64, RANGE = 510, QUARTER = 256, HALF = 512 };

/* Table 9-44 */
static const uint8_t range_lps[STATES][4] = {
    {128, 176, 208, 240}, {128, 167, 197, 227}, {128, 158, 187, 216}, {123, 150, 178, 205},
    {116, 142, 169, 195}, {111, 135, 160, 185}, {105, 128, 152, 175}, {100, 122, 144, 166},
    {95, 116, 137, 158}, {90, 110, 130, 150}, {85, 104, 123, 142}, {81, 99, 117, 135},
    {77, 94, 111, 128}, {73, 89, 105, 122}, {69, 85, 100, 116}, {66, 80, 95, 110},
    {62, 76, 90, 104}, {59, 72, 86, 99}, {56, 69, 81, 94}, {53, 65, 77, 89},
    {51, 62, 73, 85}, {48, 59, 69, 80}, {46, 56, 66, 76}, {43, 53, 63, 72},
    {41, 50, 59, 69}, {39, 48, 56, 65}, {37, 45, 54, 62}, {35, 43, 51, 59},
    {33, 41, 48, 56}, {32, 39, 46, 53}, {30, 37, 43, 50}, {29, 35, 41, 48},
    {27, 33, 39, 45}, {26, 31, 37, 43}, {24, 30, 35, 41}, {23, 28, 33, 39},
    {22, 27, 32, 37}, {21, 26, 30, 35}, {20, 24, 29, 33}, {19, 23, 27, 31},
    {18, 22, 26, 30}, {17, 21, 25, 28}, {16, 20, 23, 27}, {15, 19, 22, 25},
    {14, 18, 21, 24}, {14, 17, 20, 23}, {13, 16, 19, 22}, {12, 15, 18, 21},
    {12, 14, 17, 20}, {11, 14, 16, 19}, {11, 13, 15, 18}, {10, 12, 15, 17},
    {10, 12, 14, 16}, {9, 11, 13, 15}, {9, 11, 12, 14}, {8, 10, 12, 14},
    {8, 9, 11, 13}, {7, 9, 11, 12}, {7, 9, 10, 12}, {7, 8, 10, 11},
    {6, 8, 9, 11}, {6, 7, 9, 10}, {6, 7, 8, 9}, {2, 2, 2, 2},
};

/* Table 9-45 */
static const uint8_t next_lps[STATES] = {
    0,  0,  1,  2,  2,  4,  4,  5,  6,  7,  8,  9,  9,  11, 11, 12, 13, 13, 15, 15, 16, 16, 18, 18, 19, 19, 21, 21, 22, 22, 23, 24,
    24, 25, 26, 26, 27, 27, 28, 29, 29, 30, 30, 30, 31, 32, 32, 33, 33, 33, 34, 34, 35, 35, 35, 36, 36, 36, 37, 37, 37, 38, 38, 63,
};

static int clip(int value, int least, int most)
{
    return value < least ? least : value > most ? most : value;
}

/* 9.3.4.1 */
void cabac_restart(struct cabac_writer *writer)
{
    writer->low = 0;
    writer->range = RANGE;
    writer->outstanding = 0;
    writer->first = true;
}

/* 9.3.1.1 */
void cabac_start(struct cabac_writer *writer, struct bit_writer *bits, const struct cabac_context *contexts, int count,
                 int qp)
{
    writer->bits = bits;
    cabac_restart(writer);
    for (int i = 0; i < count; i++) {
        assert(contexts[i].index < CABAC_CONTEXTS);
        const int begin = clip((contexts[i].m * clip(qp, 0, 51) >> 4) + contexts[i].n, 1, 126);
        writer->contexts[contexts[i].index].likely = begin > 63;
        writer->contexts[contexts[i].index].state = (uint8_t)(begin > 63 ? begin - 64 : 63 - begin);
    }
}

static void put_bit(struct cabac_writer *writer, bool bit)
{
    if (!writer->first)
        bits_put(writer->bits, 1, bit);
    writer->first = false;
    for (; writer->outstanding; writer->outstanding--)
        bits_put(writer->bits, 1, !bit);
}

static void renormalize(struct cabac_writer *writer)
{
    while (writer->range < QUARTER) {
        if (writer->low < QUARTER) {
            put_bit(writer, false);
        } else if (writer->low >= HALF) {
            writer->low -= HALF;
            put_bit(writer, true);
        } else {
            writer->low -= QUARTER;
            writer->outstanding++;
        }
        writer->range <<= 1;
        writer->low <<= 1;
    }
}

void cabac_put(struct cabac_writer *writer, int context, bool bin)
{
    uint8_t *const state = &writer->contexts[context].state;
    uint8_t *const likely = &writer->contexts[context].likely;
    const uint32_t lps = range_lps[*state][writer->range >> 6 & 3];
    writer->range -= lps;
    if (bin != *likely) {
        writer->low += writer->range;
        writer->range = lps;
        *likely ^= *state == 0;
        *state = next_lps[*state];
    } else if (*state < STATES - 2) {
        ++*state;
    }
    renormalize(writer);
}

void cabac_put_bypass(struct cabac_writer *writer, bool bin)
{
    writer->low <<= 1;
    if (bin)
        writer->low += writer->range;
    if (writer->low >= 2 * HALF) {
        put_bit(writer, true);
        writer->low -= 2 * HALF;
    } else if (writer->low < HALF) {
        put_bit(writer, false);
    } else {
        writer->low -= HALF;
        writer->outstanding++;
    }
}

void cabac_put_end(struct cabac_writer *writer, bool ends)
{
    writer->range -= 2;
    if (!ends) {
        renormalize(writer);
        return;
    }
    writer->low += writer->range;
    writer->range = 2;
    renormalize(writer);
    put_bit(writer, writer->low >> 9 & 1);
    bits_put(writer->bits, 2, (writer->low >> 7 & 3) | 1);
}
