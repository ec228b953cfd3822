/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stamps read from pixels that are painted here, and what changes of the screen mean. Not here: real screens. */
#include "sightings.h"
#include "stamp.h"

#include "frame_record.h"

#include <check.h>
#include <stdlib.h>

#include "suite.h"

enum { BLACK = 0x101010, WHITE = 0xebebeb, GREY = 0x808080, PICTURES = 10 };

static uint32_t line[STAMP_WIDTH];

static void paint_block(int block, uint32_t colour)
{
    for (int x = 0; x < STAMP_BLOCK; x++)
        line[STAMP_BLOCK * block + x] = colour;
}

static void paint(int number)
{
    const int gray = number ^ number >> 1;
    paint_block(0, WHITE);
    paint_block(1, BLACK);
    for (int bit = 0; bit < STAMP_BITS; bit++)
        paint_block(2 + bit, gray >> (STAMP_BITS - 1 - bit) & 1 ? WHITE : BLACK);
    paint_block(STAMP_BITS + 2, BLACK);
    paint_block(STAMP_BITS + 3, WHITE);
}

START_TEST(each_number_is_read_back)
{
    for (int number = 0; number < STAMP_NUMBERS; number++) {
        paint(number);
        ck_assert_int_eq(stamp_read(line), number);
    }
}
END_TEST

START_TEST(what_is_no_stamp_has_no_number)
{
    paint(5);
    paint_block(0, BLACK);
    ck_assert_int_eq(stamp_read(line), STAMP_NONE);
    paint(5);
    paint_block(STAMP_BITS + 3, BLACK);
    ck_assert_int_eq(stamp_read(line), STAMP_NONE);
    paint(5);
    paint_block(7, GREY);
    ck_assert_int_eq(stamp_read(line), STAMP_NONE);
    for (int i = 0; i < STAMP_BLOCKS; i++)
        paint_block(i, WHITE);
    ck_assert_int_eq(stamp_read(line), STAMP_NONE);
}
END_TEST

static struct sightings look_at(const struct screen_change *change, size_t count, int64_t pictures)
{
    struct sightings sightings;
    ck_assert_int_eq(sightings_of(&sightings, change, count, pictures), 0);
    return sightings;
}

START_TEST(picture_is_shown_when_it_stands_whole)
{
    static const struct screen_change change[] = {
        {100, 0, 0}, {140, 1, 0}, {141, 1, 1}, {180, STAMP_NONE, 1}, {182, 3, 3},
    };
    struct sightings seen = look_at(change, 5, PICTURES);
    ck_assert_int_eq(seen.first_ns[0], 100);
    ck_assert_int_eq(seen.first_ns[1], 141);
    ck_assert(seen.first_ns[2] == FIELD_EMPTY);
    ck_assert_int_eq(seen.first_ns[3], 182);
    ck_assert_int_eq(seen.shown, 3);
    ck_assert_int_eq(seen.torn, 2);
    ck_assert_int_eq(seen.torn_ns, 1);
    ck_assert_int_eq(seen.only_torn, 0);
    sightings_finish(&seen);
}
END_TEST

START_TEST(picture_of_which_only_a_part_came_is_not_shown)
{
    static const struct screen_change change[] = {{100, 0, 0}, {140, 1, 0}, {150, 2, 0}, {151, 2, 2}};
    struct sightings seen = look_at(change, 4, PICTURES);
    ck_assert(seen.first_ns[1] == FIELD_EMPTY);
    ck_assert_int_eq(seen.only_torn, 1);
    ck_assert_int_eq(seen.torn_ns, 11);
    sightings_finish(&seen);
}
END_TEST

START_TEST(picture_that_comes_back_keeps_its_first_time)
{
    static const struct screen_change change[] = {{100, 4, 4}, {140, 5, 5}, {150, 4, 4}, {160, 5, 5}};
    struct sightings seen = look_at(change, 4, PICTURES);
    ck_assert_int_eq(seen.first_ns[4], 100);
    ck_assert_int_eq(seen.first_ns[5], 140);
    ck_assert_int_eq(seen.returned, 1);
    ck_assert_int_eq(seen.shown, 2);
    sightings_finish(&seen);
}
END_TEST

START_TEST(numbers_beyond_the_clip_count_for_nothing)
{
    static const struct screen_change change[] = {{100, 0, 0}, {140, PICTURES, PICTURES}, {150, 1, 1}};
    struct sightings seen = look_at(change, 3, PICTURES);
    ck_assert_int_eq(seen.shown, 2);
    ck_assert_int_eq(seen.returned, 0);
    sightings_finish(&seen);
}
END_TEST

START_TEST(numbers_that_begin_anew_go_on_in_a_long_clip)
{
    enum { LONG = 3 * STAMP_NUMBERS };
    struct screen_change *const change = calloc(LONG, sizeof *change);
    for (int i = 0; i < LONG; i++)
        change[i] = (struct screen_change){1000 + i, i % STAMP_NUMBERS, i % STAMP_NUMBERS};
    struct sightings seen = look_at(change, LONG, LONG);
    ck_assert_int_eq(seen.shown, LONG);
    for (int i = 0; i < LONG; i++)
        ck_assert_int_eq(seen.first_ns[i], 1000 + i);
    sightings_finish(&seen);
    free(change);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        each_number_is_read_back,
        what_is_no_stamp_has_no_number,
        picture_is_shown_when_it_stands_whole,
        picture_of_which_only_a_part_came_is_not_shown,
        picture_that_comes_back_keeps_its_first_time,
        numbers_beyond_the_clip_count_for_nothing,
        numbers_that_begin_anew_go_on_in_a_long_clip,
        NULL,
    };
    return suite_run("sightings", SUITE_TIMEOUT_DEFAULT, tests);
}
