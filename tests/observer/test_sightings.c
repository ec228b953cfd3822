/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stamps read from painted pixels, and the meaning of changes of the screen. Not here: real screens. */
#include "sightings.h"
#include "stamp.h"
#include "xwd_screen.h"

#include "frame_record.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "suite.h"

enum { BLACK = 0x101010, WHITE = 0xebebeb, GREY = 0x808080, PICTURES = 10, TORN_AFTER = 20 };

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

START_TEST(pixels_that_are_not_a_stamp_have_no_number)
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

static struct sightings look_at_part(const struct screen_change *change, size_t count, struct sightings_clip clip)
{
    clip.torn_after_ns = TORN_AFTER;
    struct sightings sightings;
    ck_assert_int_eq(sightings_of(&sightings, change, count, &clip), 0);
    return sightings;
}

static struct sightings look_from(const struct screen_change *change, size_t count, int64_t pictures, int64_t first)
{
    const struct sightings_clip clip = {.count = pictures, .first = first, .played = pictures - first};
    return look_at_part(change, count, clip);
}

static struct sightings look_at(const struct screen_change *change, size_t count, int64_t pictures)
{
    return look_from(change, count, pictures, 0);
}

START_TEST(picture_is_shown_when_it_stands_whole)
{
    static const struct screen_change change[] = {
        {100, 0, 0, 139}, {140, 1, 0, 140}, {141, 1, 1, 179}, {180, STAMP_NONE, 1, 181}, {182, 3, 3, 200},
    };
    struct sightings seen = look_at(change, 5, PICTURES);
    ck_assert_int_eq(seen.first_ns[0], 100);
    ck_assert_int_eq(seen.first_ns[1], 141);
    ck_assert(seen.first_ns[2] == FIELD_EMPTY);
    ck_assert_int_eq(seen.first_ns[3], 182);
    ck_assert_int_eq(seen.shown, 3);
    ck_assert_int_eq(seen.torn_ns, 1);
    ck_assert_int_eq(seen.only_torn, 0);
    sightings_finish(&seen);
}
END_TEST

START_TEST(picture_is_not_torn_while_it_is_drawn)
{
    static const struct screen_change change[] = {
        {100, 0, 0, 139}, {140, 1, 0, 160}, {161, 1, 1, 179}, {180, 2, 1, 190}, {191, 2, 2, 220},
    };
    struct sightings seen = look_at(change, 5, PICTURES);
    ck_assert_int_eq(seen.torn, 0);
    ck_assert_int_eq(seen.torn_ns, 21 + 11);
    sightings_finish(&seen);
}
END_TEST

START_TEST(picture_that_stays_unfinished_is_torn_and_the_one_below_is_not)
{
    static const struct screen_change change[] = {{100, 0, 0, 139}, {140, 1, 0, 161}, {162, 1, 1, 179}};
    struct sightings seen = look_at(change, 3, PICTURES);
    ck_assert_int_eq(seen.torn, 1);
    ck_assert_int_eq(seen.only_torn, 0);
    ck_assert_int_eq(seen.shown, 2);
    sightings_finish(&seen);
}
END_TEST

START_TEST(time_without_a_look_does_not_make_a_picture_torn)
{
    static const struct screen_change change[] = {{100, 0, 0, 139}, {140, 1, 0, 141}, {175, 1, 1, 179}};
    struct sightings seen = look_at(change, 3, PICTURES);
    ck_assert_int_eq(seen.torn, 0);
    sightings_finish(&seen);
}
END_TEST

START_TEST(picture_of_which_only_a_part_came_is_not_shown)
{
    static const struct screen_change change[] = {
        {100, 0, 0, 139}, {140, 1, 0, 149}, {150, 2, 0, 150}, {151, 2, 2, 190},
    };
    struct sightings seen = look_at(change, 4, PICTURES);
    ck_assert(seen.first_ns[1] == FIELD_EMPTY);
    ck_assert_int_eq(seen.only_torn, 1);
    ck_assert_int_eq(seen.torn, 1);
    ck_assert_int_eq(seen.torn_ns, 11);
    sightings_finish(&seen);
}
END_TEST

START_TEST(first_picture_does_not_stand_before_it_was_seen_whole)
{
    static const struct screen_change change[] = {{100, 4, 3, 121}, {122, 4, 4, 139}};
    struct sightings seen = look_from(change, 2, PICTURES, 4);
    ck_assert_int_eq(seen.torn, 1);
    ck_assert_int_eq(seen.only_torn, 0);
    sightings_finish(&seen);
}
END_TEST

START_TEST(pictures_that_are_not_to_be_played_are_not_torn)
{
    static const struct screen_change change[] = {
        {100, 2, 1, 130}, {131, 3, 3, 139}, {140, 4, 4, 179}, {180, 5, 4, 219}, {220, 6, 4, 260},
    };
    const struct sightings_clip clip = {.count = PICTURES, .first = 3, .played = 2};
    struct sightings seen = look_at_part(change, 5, clip);
    ck_assert_int_eq(seen.shown, 2);
    ck_assert_int_eq(seen.torn, 0);
    ck_assert_int_eq(seen.only_torn, 0);
    sightings_finish(&seen);
}
END_TEST

START_TEST(picture_that_comes_back_keeps_its_first_time)
{
    static const struct screen_change change[] = {
        {100, 4, 4, 139}, {140, 5, 5, 149}, {150, 4, 4, 159}, {160, 5, 5, 170},
    };
    struct sightings seen = look_at(change, 4, PICTURES);
    ck_assert_int_eq(seen.first_ns[4], 100);
    ck_assert_int_eq(seen.first_ns[5], 140);
    ck_assert_int_eq(seen.returned, 1);
    ck_assert_int_eq(seen.shown, 2);
    sightings_finish(&seen);
}
END_TEST

START_TEST(numbers_beyond_the_clip_are_ignored)
{
    static const struct screen_change change[] = {
        {100, 0, 0, 139}, {140, PICTURES, PICTURES, 149}, {150, 1, 1, 160},
    };
    struct sightings seen = look_at(change, 3, PICTURES);
    ck_assert_int_eq(seen.shown, 2);
    ck_assert_int_eq(seen.returned, 0);
    sightings_finish(&seen);
}
END_TEST

START_TEST(numbers_that_start_again_continue_the_count_in_a_long_clip)
{
    enum { LONG = 3 * STAMP_NUMBERS };
    struct screen_change *const change = calloc(LONG, sizeof *change);
    for (int i = 0; i < LONG; i++)
        change[i] = (struct screen_change){1000 + i, i % STAMP_NUMBERS, i % STAMP_NUMBERS, 1000 + i};
    struct sightings seen = look_at(change, LONG, LONG);
    ck_assert_int_eq(seen.shown, LONG);
    for (int i = 0; i < LONG; i++)
        ck_assert_int_eq(seen.first_ns[i], 1000 + i);
    sightings_finish(&seen);
    free(change);
}
END_TEST

/* At 25 pictures a second the numbers start again every 164 s. From the second half of that time on, the next start is
 * nearer than the last one. */
START_TEST(playing_may_begin_anywhere_in_a_long_clip)
{
    static const int first[] = {STAMP_NUMBERS / 2 + 1, STAMP_NUMBERS - 1, 2 * STAMP_NUMBERS + 3000};
    for (int i = 0; i < (int)(sizeof first / sizeof *first); i++) {
        const int number = first[i] % STAMP_NUMBERS;
        const struct screen_change change[] = {{100, number, number, 139}};
        struct sightings seen = look_from(change, 1, 3 * STAMP_NUMBERS, first[i]);
        ck_assert_int_eq(seen.first_ns[first[i]], 100);
        ck_assert_int_eq(seen.shown, 1);
        ck_assert_int_eq(seen.returned, 0);
        sightings_finish(&seen);
    }
}
END_TEST

START_TEST(player_that_begins_early_has_not_gone_back)
{
    static const struct screen_change change[] = {{100, 4, 4, 139}, {140, 5, 5, 179}, {180, 6, 6, 220}};
    struct sightings seen = look_from(change, 3, PICTURES, 6);
    ck_assert_int_eq(seen.shown, 3);
    ck_assert_int_eq(seen.returned, 0);
    sightings_finish(&seen);
}
END_TEST

static int next_descriptor(void)
{
    const int fd = open("/dev/null", O_RDONLY);
    close(fd);
    return fd;
}

START_TEST(screen_file_that_is_refused_is_closed)
{
    char why[256];
    struct xwd_screen screen;
    const int next = next_descriptor();
    ck_assert_int_lt(xwd_screen_open(&screen, "/dev/null", why, sizeof why), 0);
    ck_assert_int_eq(next_descriptor(), next);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        each_number_is_read_back,
        pixels_that_are_not_a_stamp_have_no_number,
        picture_is_shown_when_it_stands_whole,
        picture_is_not_torn_while_it_is_drawn,
        picture_that_stays_unfinished_is_torn_and_the_one_below_is_not,
        time_without_a_look_does_not_make_a_picture_torn,
        picture_of_which_only_a_part_came_is_not_shown,
        first_picture_does_not_stand_before_it_was_seen_whole,
        pictures_that_are_not_to_be_played_are_not_torn,
        picture_that_comes_back_keeps_its_first_time,
        numbers_beyond_the_clip_are_ignored,
        numbers_that_start_again_continue_the_count_in_a_long_clip,
        playing_may_begin_anywhere_in_a_long_clip,
        player_that_begins_early_has_not_gone_back,
        screen_file_that_is_refused_is_closed,
        NULL,
    };
    return suite_run("sightings", SUITE_TIMEOUT_DEFAULT, tests);
}
