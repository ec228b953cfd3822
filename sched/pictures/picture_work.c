/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "picture_work.h"

#include <string.h>

enum { DARK = 60, BRIGHT = 180, COLOURFUL = 20, NEUTRAL = 128 };

/* Rough regions of the YCbCr space. */
static uint8_t class_of(int y, int cb, int cr)
{
    const int blue = cb - NEUTRAL, red = cr - NEUTRAL;
    if (red > COLOURFUL && blue < 0)
        return blue < -2 * COLOURFUL && red < 2 * COLOURFUL ? OBJECT_YELLOW_GOAL : OBJECT_BALL;
    if (blue > COLOURFUL)
        return OBJECT_BLUE_GOAL;
    if (blue < -2 * COLOURFUL)
        return OBJECT_YELLOW_GOAL;
    if (y < DARK)
        return OBJECT_OBSTACLES;
    return y > BRIGHT ? OBJECT_LINES : CLASS_NOTHING;
}

void picture_classify(const struct picture_planes *planes, int first_row, int end_row, uint8_t *classes)
{
    const int columns = planes->width / 2;
    for (int row = first_row; row < end_row; row++) {
        const uint8_t *const y = planes->y + 2 * row * planes->width;
        for (int column = 0; column < columns; column++) {
            const int at = row * columns + column;
            const int luma = y[2 * column] + y[2 * column + 1] + y[planes->width + 2 * column] + y[planes->width + 2 * column + 1];
            classes[at] = class_of(luma / 4, planes->cb[at], planes->cr[at]);
        }
    }
}

struct picture_blob picture_track(const uint8_t *classes, int columns, int rows, enum picture_object object)
{
    struct picture_blob blob = {.left = columns, .top = rows};
    int64_t sum_x = 0, sum_y = 0;
    for (int y = 0; y < rows; y++) {
        for (int x = 0; x < columns; x++) {
            if (classes[y * columns + x] != object)
                continue;
            blob.samples++;
            sum_x += x;
            sum_y += y;
            blob.left = x < blob.left ? x : blob.left;
            blob.right = x > blob.right ? x : blob.right;
            blob.top = y < blob.top ? y : blob.top;
            blob.bottom = y > blob.bottom ? y : blob.bottom;
        }
    }
    if (!blob.samples)
        return (struct picture_blob){0};
    blob.x = (double)sum_x / (double)blob.samples;
    blob.y = (double)sum_y / (double)blob.samples;
    return blob;
}

void picture_blur(const uint8_t *from, int width, int height, uint8_t *to)
{
    memcpy(to, from, (size_t)width);
    memcpy(to + (height - 1) * width, from + (height - 1) * width, (size_t)width);
    for (int y = 1; y < height - 1; y++) {
        const uint8_t *const above = from + (y - 1) * width, *const here = above + width, *const below = here + width;
        to[y * width] = here[0];
        for (int x = 1; x < width - 1; x++) {
            const int sum = above[x - 1] + above[x] + above[x + 1] + here[x - 1] + here[x] + here[x + 1] + below[x - 1] + below[x] +
                            below[x + 1];
            to[y * width + x] = (uint8_t)((sum + 4) / 9);
        }
        to[y * width + width - 1] = here[width - 1];
    }
}

void picture_halve(const uint8_t *from, int width, int height, uint8_t *to)
{
    for (int y = 0; y < height / 2; y++) {
        const uint8_t *const row = from + 2 * y * width;
        for (int x = 0; x < width / 2; x++)
            to[y * (width / 2) + x] =
                (uint8_t)((row[2 * x] + row[2 * x + 1] + row[width + 2 * x] + row[width + 2 * x + 1] + 2) / 4);
    }
}
