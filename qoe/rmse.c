/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rmse.h"

#include <math.h>

enum {
    /*
     * The sum of this many squares of 255 fits in 32 bits. A vector holds twice as many of these as
     * of 64 bits.
     */
    BLOCK_BYTES = 1 << 16,
    Q16_PER_8BIT = 257,
};

static uint32_t block_ssd(const uint8_t *restrict a, const uint8_t *restrict b, size_t size)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < size; i++) {
        const int difference = a[i] - b[i];
        sum += (uint32_t)(difference * difference);
    }
    return sum;
}

static uint64_t row_ssd(const uint8_t *a, const uint8_t *b, size_t size)
{
    uint64_t sum = 0;
    for (size_t at = 0; at < size; at += BLOCK_BYTES)
        sum += block_ssd(a + at, b + at, size - at < BLOCK_BYTES ? size - at : BLOCK_BYTES);
    return sum;
}

uint64_t rgb_ssd(const struct rgb_picture *a, const struct rgb_picture *b)
{
    uint64_t sum = 0;
    for (int y = 0; y < a->height; y++)
        sum += row_ssd(a->pixels + y * a->stride, b->pixels + y * b->stride, 3 * (size_t)a->width);
    return sum;
}

double rgb_rmse(const struct rgb_picture *a, const struct rgb_picture *b)
{
    return sqrt((double)rgb_ssd(a, b) / (3.0 * a->width * a->height));
}

double rmse_q16(double rmse_8bit)
{
    return Q16_PER_8BIT * rmse_8bit;
}
