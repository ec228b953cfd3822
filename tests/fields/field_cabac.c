/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "field_cabac.h"

#include <stdlib.h>

#include "cabac_writer.h"
#include "field_slice.h"

enum { WIDTH_MAX = 64, PCM_BYTES = 384, BLOCKS = 16, COEFFICIENTS = 16, MVD_LIMIT = 9 };

/* ctxIdx of the first context of a syntax element, 9.3.3.1; of field macroblocks, and of luma blocks with 16 levels */
enum {
    TYPE_I = 3, SKIP = 11, TYPE_P = 14, TYPE_I_IN_P = 17, MVD_X = 40, MVD_Y = 47, REFERENCE = 54, QP_DELTA = 60, CBP_LUMA = 73,
    CBP_CHROMA = 77, CODED_BLOCK = 93, LEVEL = 247, SIGNIFICANT = 306, LAST = 367,
};

static const struct cabac_context contexts_i[] = {
    {3, 20, -15}, {4, 2, 54}, {5, 3, 74},
};
/* cabac_init_idc 0 */
static const struct cabac_context contexts_p[] = {
    {11, 23, 33}, {12, 23, 2}, {13, 21, 0}, {14, 1, 9}, {15, 0, 49}, {16, -37, 118}, {17, 5, 57},
    {40, -3, 69}, {41, -6, 81}, {42, -11, 96}, {43, 6, 55}, {44, 7, 67}, {45, -5, 86}, {46, 2, 88}, {47, 0, 58},
    {48, -3, 76}, {49, -10, 94}, {50, 5, 54}, {51, 4, 69}, {52, -3, 81}, {53, 0, 88}, {54, -7, 67}, {55, -5, 74},
    {56, -4, 74}, {57, -5, 80}, {58, -7, 72}, {59, 1, 58}, {60, 0, 41},
    {73, -27, 126},
    {77, -28, 82}, {78, -20, 94}, {79, -16, 83}, {80, -22, 110},
    {93, -3, 74}, {94, -9, 92}, {95, -8, 87}, {96, -23, 126},
    {247, 1, 58}, {248, -3, 29}, {249, -1, 36}, {250, 1, 38}, {251, 2, 43}, {252, -6, 55}, {253, 0, 58}, {254, 0, 64},
    {255, -3, 74}, {256, -10, 90},
    {306, 10, 41}, {307, 7, 46}, {308, -1, 51}, {309, 7, 49}, {310, 8, 52}, {311, 9, 41}, {312, 6, 47}, {313, 2, 55},
    {314, 13, 41}, {315, 10, 44}, {316, 6, 50}, {317, 5, 53}, {318, 13, 49}, {319, 4, 63}, {320, 6, 64},
    {367, 27, 0}, {368, 28, 0}, {369, 31, -4}, {370, 27, 6}, {371, 34, 8}, {372, 30, 10}, {373, 24, 22},
    {374, 33, 19}, {375, 22, 32}, {376, 26, 31}, {377, 21, 41}, {378, 26, 44}, {379, 23, 47}, {380, 16, 65},
    {381, 14, 71},
};
#define COUNT(array) (int)(sizeof(array) / sizeof(*(array)))

/* What the macroblocks below and to the right need to know of one. */
struct neighbour {
    bool exists; /* in this slice */
    bool is_pcm;
    int reference;
    int mvd[2]; /* absolute */
};

struct slice {
    struct cabac_writer writer;
    uint64_t *random;
    struct neighbour row[WIDTH_MAX]; /* to the left of the current macroblock, of its row; else, of the row above */
    struct neighbour left;
    struct neighbour top;
};

static void put_pcm(struct slice *slice, struct neighbour *this)
{
    cabac_put_end(&slice->writer, true); /* the code ends before the samples */
    bits_align(slice->writer.bits);
    for (int i = 0; i < PCM_BYTES; i++)
        bits_put(slice->writer.bits, 8, 64 + random_below(slice->random, 128));
    cabac_restart(&slice->writer);
    *this = (struct neighbour){.exists = true, .is_pcm = true};
}

static void put_reference(struct slice *slice, int reference)
{
    const int context = (slice->left.reference > 0) + 2 * (slice->top.reference > 0);
    cabac_put(&slice->writer, REFERENCE + context, reference);
    if (reference)
        cabac_put(&slice->writer, REFERENCE + 4, false);
}

/* Writes a difference below the limit from which it has a suffix. Returns its absolute value. */
static int put_mvd(struct slice *slice, int first_context, int component)
{
    const int value = (int)random_below(slice->random, MVD_LIMIT);
    const int sum = slice->left.mvd[component] + slice->top.mvd[component];
    cabac_put(&slice->writer, first_context + (sum > 2) + (sum > 32), value > 0);
    for (int bin = 1; bin <= value; bin++)
        cabac_put(&slice->writer, first_context + (bin < 4 ? 2 + bin : 6), bin < value);
    if (value)
        cabac_put_bypass(&slice->writer, random_below(slice->random, 2));
    return value;
}

/* 9.3.3.1.3: writes the levels from the last to the first. */
static void put_levels(struct slice *slice, int count)
{
    int ones = 0;
    int larger = 0;
    while (count-- > 0) {
        const int level = 1 + (int)random_below(slice->random, 3);
        const int first = larger ? 0 : ones < 3 ? 1 + ones : 4;
        cabac_put(&slice->writer, LEVEL + first, level > 1);
        for (int bin = 2; bin <= level; bin++)
            cabac_put(&slice->writer, LEVEL + 5 + (larger < 4 ? larger : 4), bin < level);
        cabac_put_bypass(&slice->writer, random_below(slice->random, 2));
        ones += level == 1;
        larger += level > 1;
    }
}

static void put_block(struct slice *slice, bool left_coded, bool top_coded)
{
    cabac_put(&slice->writer, CODED_BLOCK + left_coded + 2 * top_coded, true);
    const uint32_t mask = 1 + random_below(slice->random, (1 << COEFFICIENTS) - 1);
    int count = 0;
    for (int i = 0; i < COEFFICIENTS - 1; i++) {
        const bool significant = mask >> i & 1;
        const bool is_last = significant && !(mask >> (i + 1));
        cabac_put(&slice->writer, SIGNIFICANT + i, significant);
        if (significant)
            cabac_put(&slice->writer, LAST + i, is_last);
        count += significant;
        if (is_last)
            break;
    }
    count += mask >> (COEFFICIENTS - 1) & 1; /* the last place needs no flag */
    put_levels(slice, count);
}

/* 6.4.3: the blocks of a quarter, then of the next. */
static void put_residual(struct slice *slice)
{
    for (int block = 0; block < BLOCKS; block++) {
        const int x = (block & 1) + (block >> 1 & 2);
        const int y = (block >> 1 & 1) + (block >> 2 & 2);
        put_block(slice, x || slice->left.exists, y || slice->top.exists);
    }
}

static void put_inter(struct slice *slice, struct neighbour *this)
{
    struct cabac_writer *const writer = &slice->writer;
    for (int bin = 0; bin < 3; bin++)
        cabac_put(writer, TYPE_P + bin, false); /* P_L0_16x16 */
    const int reference = (int)random_below(slice->random, 2);
    put_reference(slice, reference);
    const int x = put_mvd(slice, MVD_X, 0);
    const int y = put_mvd(slice, MVD_Y, 1);
    for (int quarter = 0; quarter < 4; quarter++)
        cabac_put(writer, CBP_LUMA, true);
    cabac_put(writer, CBP_CHROMA + slice->left.is_pcm + 2 * slice->top.is_pcm, false);
    cabac_put(writer, QP_DELTA, false);
    put_residual(slice);
    *this = (struct neighbour){.exists = true, .reference = reference, .mvd = {x, y}};
}

static void put_macroblock(struct slice *slice, bool inter, struct neighbour *this)
{
    const int neighbours = slice->left.exists + slice->top.exists;
    if (!inter) {
        cabac_put(&slice->writer, TYPE_I + neighbours, true);
        put_pcm(slice, this);
        return;
    }
    cabac_put(&slice->writer, SKIP + neighbours, false);
    if (random_below(slice->random, 12)) {
        put_inter(slice, this);
        return;
    }
    cabac_put(&slice->writer, TYPE_P, true);
    cabac_put(&slice->writer, TYPE_I_IN_P, true);
    put_pcm(slice, this);
}

void cabac_put_macroblocks(struct bit_writer *bits, uint64_t *random, int width, int rows, bool inter, int qp)
{
    struct slice slice = {.random = random};
    while (bits->pending_count)
        bits_put(bits, 1, 1); /* cabac_alignment_one_bit */
    cabac_start(&slice.writer, bits, inter ? contexts_p : contexts_i, inter ? COUNT(contexts_p) : COUNT(contexts_i), qp);
    for (int i = 0; i < width * rows; i++) {
        const int x = i % width;
        slice.left = x ? slice.row[x - 1] : (struct neighbour){0};
        slice.top = slice.row[x];
        put_macroblock(&slice, inter, &slice.row[x]);
        cabac_put_end(&slice.writer, i == width * rows - 1);
    }
    bits_align(bits);
}
