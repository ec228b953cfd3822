/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pictures packed as PNG: that they fit, and that they can be unpacked. Not covered: that players show them (test_sched_pman.py);
 * what zlib finds wrong.
 */
#include "png_packet.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "suite.h"

enum { WIDTH = 64, HEIGHT = 48, GUARD = 0xa5, BEFORE_COMMENT = 8 + 25, LENGTH_AND_TYPE = 8, CHECKSUM = 4 };

static uint32_t state = 1;

/* Noise, which cannot be compressed. */
static void fill(uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        state = state * 1664525 + 1013904223;
        data[i] = (uint8_t)(state >> 24);
    }
}

static uint32_t u32_at(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Returns where the next chunk begins. */
static const uint8_t *check_chunk(const uint8_t *chunk, const char *type)
{
    const uint32_t length = u32_at(chunk);
    ck_assert_mem_eq(chunk + 4, type, 4);
    ck_assert_uint_eq(u32_at(chunk + LENGTH_AND_TYPE + length), (uint32_t)crc32(0, chunk + 4, length + 4));
    return chunk + LENGTH_AND_TYPE + length + CHECKSUM;
}

START_TEST(noise_of_any_size_fits)
{
    static const int sizes[][2] = {{2, 2}, {2, 4096}, {4096, 2}, {640, 480}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const int width = sizes[i][0], height = sizes[i][1];
        const size_t luma = (size_t)width * (size_t)height, capacity = png_packet_capacity(width, height);
        uint8_t *const planes = malloc(luma + luma / 4), *const packet = malloc(capacity + 1);
        fill(planes, luma + luma / 4);
        for (int level = 1; level <= 9; level++) {
            packet[capacity] = GUARD;
            const int64_t size = png_packet_write(
                packet, &(struct png_planes){.width = width, .height = height, .whole = planes, .halved = planes + luma},
                INT64_MAX, level);
            ck_assert_int_gt(size, 0);
            ck_assert_int_le(size, (int64_t)capacity);
            ck_assert_int_eq(packet[capacity], GUARD);
        }
        free(packet);
        free(planes);
    }
}
END_TEST

START_TEST(picture_has_both_planes_side_by_side)
{
    enum { ALL = WIDTH + WIDTH / 2 };
    static uint8_t whole[WIDTH * HEIGHT], halved[WIDTH * HEIGHT / 4], rows[HEIGHT * (ALL + 1)];
    uint8_t *const packet = malloc(png_packet_capacity(WIDTH, HEIGHT));
    uLongf size = sizeof rows;
    fill(whole, sizeof whole);
    fill(halved, sizeof halved);
    const int64_t packed = png_packet_write(
        packet, &(struct png_planes){.width = WIDTH, .height = HEIGHT, .whole = whole, .halved = halved}, 12, 6);
    ck_assert_int_eq(u32_at(packet + 16), (uint32_t)png_packet_width(WIDTH));
    ck_assert_int_eq(png_packet_width(WIDTH), ALL);
    ck_assert_int_eq(u32_at(packet + 20), HEIGHT);
    const uint8_t *const comment = check_chunk(packet + 8, "IHDR");
    ck_assert_ptr_eq(comment, packet + BEFORE_COMMENT);
    ck_assert_mem_eq(comment + LENGTH_AND_TYPE, "Comment\0picture 12 of the camera", 32);
    const uint8_t *const data = check_chunk(comment, "tEXt"), *const end = check_chunk(data, "IDAT");
    ck_assert_ptr_eq(check_chunk(end, "IEND"), packet + packed);
    ck_assert_int_eq(uncompress(rows, &size, data + LENGTH_AND_TYPE, u32_at(data)), Z_OK);
    ck_assert_uint_eq(size, sizeof rows);
    for (int y = 0; y < HEIGHT; y++) {
        static const uint8_t black[WIDTH / 2];
        const uint8_t *const row = rows + (size_t)y * (ALL + 1);
        ck_assert_int_eq(row[0], 0);
        ck_assert_mem_eq(row + 1, whole + y * WIDTH, WIDTH);
        ck_assert_mem_eq(row + 1 + WIDTH, y < HEIGHT / 2 ? halved + y * (WIDTH / 2) : black, WIDTH / 2);
    }
    free(packet);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        noise_of_any_size_fits,
        picture_has_both_planes_side_by_side,
        NULL,
    };
    return suite_run("png_packet", SUITE_TIMEOUT_DEFAULT, tests);
}
