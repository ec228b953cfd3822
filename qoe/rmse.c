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

static uint64_t deep_row_ssd(const uint16_t *restrict a, const uint16_t *restrict b, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t difference = a[i] > b[i] ? (uint32_t)(a[i] - b[i]) : (uint32_t)(b[i] - a[i]);
        sum += difference * difference; /* below 2^32 */
    }
    return sum;
}

uint64_t rgb_ssd(const struct rgb_picture *a, const struct rgb_picture *b)
{
    uint64_t sum = 0;
    const size_t count = 3 * (size_t)a->width;
    for (int y = 0; y < a->height; y++) {
        const uint8_t *const row = a->pixels + y * a->stride;
        const uint8_t *const other = b->pixels + y * b->stride;
        sum += a->is_deep ? deep_row_ssd((const uint16_t *)row, (const uint16_t *)other, count) : row_ssd(row, other, count);
    }
    return sum;
}

double rgb_rmse(const struct rgb_picture *a, const struct rgb_picture *b)
{
    const double error = sqrt((double)rgb_ssd(a, b) / (3.0 * a->width * a->height));
    return a->is_deep ? error / Q16_PER_8BIT : error;
}

double rmse_q16(double rmse_8bit)
{
    return Q16_PER_8BIT * rmse_8bit;
}
