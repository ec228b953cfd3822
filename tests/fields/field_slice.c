/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "field_slice.h"

#include <assert.h>
#include <stdlib.h>

enum {
    LUMA_BLOCKS = 16,
    CHROMA_BLOCKS = 4, /* of each component, 4:2:0 */
    MOST_TRAILING_ONES = 3,
    /* mb_type in an I slice; in a P slice these follow the inter types */
    I_NXN = 0,
    I_16X16_DC_PREDICTION_ALL_RESIDUALS = 23, /* predMode 2, chroma 2, luma 15 */
    I_PCM = 25,
    P_INTRA_OFFSET = 5,
    I_PCM_BYTES = 384,
    /* coded_block_pattern 47: all blocks coded (table 9-4) */
    CBP_ALL_INTRA = 0,
    CBP_ALL_INTER = 12,
};

uint32_t random_below(uint64_t *state, uint32_t limit)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (*state >> 32) % limit;
}

/* Writes a level (9.2.2.1). It must be small, as all levels here. */
static void put_level(struct bit_writer *writer, int level, int suffix_length, int bias)
{
    const int code = (level > 0 ? 2 * level - 2 : -2 * level - 1) - bias;
    const int prefix = code >> suffix_length;
    assert(prefix < 14);
    bits_put(writer, prefix + 1, 1);
    bits_put(writer, suffix_length, code & ((1 << suffix_length) - 1));
}

static void put_levels(struct bit_writer *writer, uint64_t *random, int total, int ones)
{
    for (int i = 0; i < ones; i++)
        bits_put(writer, 1, random_below(random, 2));
    int suffix_length = total > 10 && ones < MOST_TRAILING_ONES;
    for (int i = ones; i < total; i++) {
        /* After fewer than three trailing ones the next level cannot be 1 or -1. */
        const bool above_one = i == ones && ones < MOST_TRAILING_ONES;
        const int size = above_one ? 2 : 1 + (random_below(random, 8) == 0);
        put_level(writer, random_below(random, 2) ? size : -size, suffix_length,
                  above_one ? 2 : 0);
        if (!suffix_length)
            suffix_length = 1;
        if (size > 3 << (suffix_length - 1))
            suffix_length++;
    }
}

/* Writes the place of the one zero coefficient (9.2.3): above the others, between them, or below them. */
static void put_zero(struct bit_writer *writer, uint64_t *random, int total)
{
    const bool below_the_last = random_below(random, 2);
    bits_put(writer, total == 15 ? 1 : 2, below_the_last); /* total_zeros, tables 9-7 and 9-8 */
    if (!below_the_last)
        return;
    for (int i = total - 1; i > 0; i--) { /* the first coefficient gets the rest */
        const bool here = random_below(random, total) == 0;
        bits_put(writer, 1, !here); /* run_before */
        if (here)
            return;
    }
}

/* Writes a block. most is 16, or 15 without the DC. The first block of a slice has no neighbours. */
static void put_block(struct bit_writer *writer, uint64_t *random, int most, bool first)
{
    const int ones = first ? 0 : random_below(random, MOST_TRAILING_ONES + 1);
    const int total = most - (first ? 0 : (int)random_below(random, 2));
    if (first)
        bits_put(writer, 16, total == 16 ? 4 : 7);
    else
        bits_put(writer, 6, (total - 1) << 2 | ones);
    put_levels(writer, random, total, ones);
    if (total < most)
        put_zero(writer, random, total);
}

static void put_chroma(struct bit_writer *writer, uint64_t *random, bool first)
{
    for (int component = 0; component < 2; component++) {
        bits_put(writer, 6, 2); /* chroma DC: 4 coefficients, no trailing ones */
        put_levels(writer, random, 4, 0);
    }
    for (int component = 0; component < 2; component++)
        for (int block = 0; block < CHROMA_BLOCKS; block++)
            put_block(writer, random, 15, first && !block);
}

static void put_i_pcm(struct bit_writer *writer, uint64_t *random)
{
    bits_align(writer);
    for (int i = 0; i < I_PCM_BYTES; i++)
        bits_put(writer, 8, 64 + random_below(random, 128));
}

static void put_i_16x16(struct bit_writer *writer, uint64_t *random, bool first)
{
    bits_put_ue(writer, 0); /* intra_chroma_pred_mode: DC */
    bits_put_se(writer, 0); /* mb_qp_delta */
    put_block(writer, random, 16, first);
    for (int block = 0; block < LUMA_BLOCKS; block++)
        put_block(writer, random, 15, first && !block);
    put_chroma(writer, random, first);
}

static void put_whole_residual(struct bit_writer *writer, uint64_t *random, bool first)
{
    bits_put_se(writer, 0); /* mb_qp_delta */
    for (int block = 0; block < LUMA_BLOCKS; block++)
        put_block(writer, random, 16, first && !block);
    put_chroma(writer, random, first);
}

static void put_i_nxn(struct bit_writer *writer, uint64_t *random, bool first)
{
    for (int block = 0; block < LUMA_BLOCKS; block++)
        bits_put(writer, 1, 1); /* the predicted mode, which is DC everywhere */
    bits_put_ue(writer, 0);     /* intra_chroma_pred_mode: DC */
    bits_put_ue(writer, CBP_ALL_INTRA);
    put_whole_residual(writer, random, first);
}

static void put_intra(struct bit_writer *writer, uint64_t *random, int type_offset, bool first)
{
    static const int types[] = {I_NXN, I_16X16_DC_PREDICTION_ALL_RESIDUALS,
                                I_16X16_DC_PREDICTION_ALL_RESIDUALS, I_PCM};
    const int type = types[random_below(random, sizeof(types) / sizeof(*types))];
    bits_put_ue(writer, type_offset + type);
    if (type == I_PCM)
        put_i_pcm(writer, random);
    else if (type == I_NXN)
        put_i_nxn(writer, random, first);
    else
        put_i_16x16(writer, random, first);
}

static void put_inter(struct bit_writer *writer, uint64_t *random, bool first)
{
    const int type = random_below(random, 3); /* 16x16, 16x8, 8x16 */
    const int partitions = type ? 2 : 1;
    bits_put_ue(writer, type);
    for (int i = 0; i < partitions; i++)
        bits_put(writer, 1, random_below(random, 2)); /* ref_idx, one of two */
    for (int i = 0; i < 2 * partitions; i++)
        bits_put_se(writer, (int)random_below(random, 41) - 20); /* mvd, quarter samples */
    bits_put_ue(writer, CBP_ALL_INTER);
    put_whole_residual(writer, random, first);
}

void slice_put_macroblocks(struct bit_writer *writer, uint64_t *random, int count, bool inter)
{
    for (int i = 0; i < count; i++) {
        if (inter)
            bits_put_ue(writer, 0); /* mb_skip_run */
        if (inter && random_below(random, 5))
            put_inter(writer, random, !i);
        else
            put_intra(writer, random, inter ? P_INTRA_OFFSET : 0, !i);
    }
}
