/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Computes the root mean square error of two pictures as ImageMagick's `compare -metric RMSE` does:
 * over all pixels and the three channels together.
 */
#ifndef QOE_RMSE_H
#define QOE_RMSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * RGB24 or, if is_deep, RGB48 in the machine's byte order. Rows of 3 * width samples begin stride bytes apart. The code that
 * makes a picture owns its pixels.
 */
struct rgb_picture {
    uint8_t *pixels;
    int width;
    int height;
    ptrdiff_t stride;
    bool is_deep;
};

/* Returns the exact sum of squared differences of the samples. Both pictures must have the same size and depth. */
uint64_t rgb_ssd(const struct rgb_picture *a, const struct rgb_picture *b);

/* Returns the error in units of the 8-bit scale, from 0 to 255. */
double rgb_rmse(const struct rgb_picture *a, const struct rgb_picture *b);

/*
 * Converts it to the units of seed 000's table 4, ImageMagick's 16-bit quantum: 257 times as much.
 */
double rmse_q16(double rmse_8bit);

#endif
