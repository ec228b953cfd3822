/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The error between two pictures. Not here: the comparison with ImageMagick's result (test_qoe.py), and the
 * conversion of decoded pictures to RGB.
 */
#include "rmse.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "suite.h"

static struct rgb_picture picture(int width, int height, ptrdiff_t stride, unsigned int seed)
{
    struct rgb_picture made = {malloc((size_t)(stride * height)), width, height, stride, false};
    uint64_t state = seed;
    for (ptrdiff_t i = 0; i < stride * height; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        made.pixels[i] = (uint8_t)(state >> 56);
    }
    return made;
}

static uint64_t plain_ssd(const struct rgb_picture *a, const struct rgb_picture *b)
{
    uint64_t sum = 0;
    for (int y = 0; y < a->height; y++) {
        for (int x = 0; x < 3 * a->width; x++) {
            const int64_t difference =
                (int64_t)a->pixels[y * a->stride + x] - b->pixels[y * b->stride + x];
            sum += (uint64_t)(difference * difference);
        }
    }
    return sum;
}

static void expect_plain_ssd(int width, int height, int padding)
{
    struct rgb_picture a = picture(width, height, 3 * (ptrdiff_t)width + padding, 1);
    struct rgb_picture b = picture(width, height, 3 * (ptrdiff_t)width, 2);
    ck_assert_uint_eq(rgb_ssd(&a, &b), plain_ssd(&a, &b));
    free(a.pixels);
    free(b.pixels);
}

START_TEST(any_size_is_summed_exactly)
{
    const int widths[] = {1, 5, 64, 1283, 21845, 21846, 50001};
    for (int i = 0; i < (int)(sizeof widths / sizeof widths[0]); i++)
        expect_plain_ssd(widths[i], 3, 0);
}
END_TEST

START_TEST(bytes_between_rows_are_not_part_of_the_picture)
{
    expect_plain_ssd(37, 11, 17);
}
END_TEST

START_TEST(black_against_white_is_the_greatest_error_and_does_not_overflow)
{
    const int width = 60000;
    struct rgb_picture black = {calloc(3, (size_t)width), width, 1, 3 * width, false};
    struct rgb_picture white = {malloc(3 * (size_t)width), width, 1, 3 * width, false};
    for (int i = 0; i < 3 * width; i++)
        white.pixels[i] = 255;
    ck_assert_double_eq(rgb_rmse(&black, &white), 255);
    ck_assert_double_eq(rmse_q16(255), 65535);
    free(black.pixels);
    free(white.pixels);
}
END_TEST

START_TEST(one_channel_off_by_three_in_one_of_four_pixels)
{
    uint8_t pixels[12] = {0};
    uint8_t others[12] = {[4] = 3};
    const struct rgb_picture a = {pixels, 2, 2, 6, false};
    const struct rgb_picture b = {others, 2, 2, 6, false};
    ck_assert_double_eq_tol(rgb_rmse(&a, &b), sqrt(9.0 / 12.0), 1e-15);
}
END_TEST

START_TEST(pictures_of_16_bits_have_finer_steps_of_the_same_size)
{
    uint16_t pixels[12] = {0};
    uint16_t others[12] = {[4] = 300, [11] = 40};
    const struct rgb_picture a = {(uint8_t *)pixels, 2, 2, sizeof pixels / 2, true};
    const struct rgb_picture b = {(uint8_t *)others, 2, 2, sizeof others / 2, true};
    ck_assert_uint_eq(rgb_ssd(&a, &b), 91600);
    ck_assert_uint_eq(rgb_ssd(&b, &a), 91600);
    ck_assert_double_eq_tol(rmse_q16(rgb_rmse(&a, &b)), sqrt(91600.0 / 12.0), 1e-9);
    for (int i = 0; i < 12; i++) {
        pixels[i] = UINT16_MAX;
        others[i] = 0;
    }
    ck_assert_double_eq(rgb_rmse(&a, &b), 255);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        any_size_is_summed_exactly,
        bytes_between_rows_are_not_part_of_the_picture,
        black_against_white_is_the_greatest_error_and_does_not_overflow,
        one_channel_off_by_three_in_one_of_four_pixels,
        pictures_of_16_bits_have_finer_steps_of_the_same_size,
        NULL,
    };
    return suite_run("rmse", SUITE_TIMEOUT_DEFAULT, tests);
}
