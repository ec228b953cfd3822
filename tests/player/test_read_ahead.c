/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether a stream is missing among what was read. Not covered: when the feeder rests (test_feeder.c); what the clock does without sound
 * (test_media_clock.c).
 */
#include "read_ahead.h"

#include <check.h>

#include "ns.h"
#include "suite.h"

static struct read_ahead *ahead;

static void setup(void)
{
    ck_assert_int_eq(read_ahead_create(&ahead), 0);
    read_ahead_want(ahead, READ_VIDEO, true);
    read_ahead_want(ahead, READ_SOUND, true);
}

static void teardown(void)
{
    read_ahead_destroy(&ahead);
}

/* Reads this many seconds of one stream, of which the decoder takes all at once. */
static void read_s(enum read_stream stream, int seconds)
{
    for (int i = 0; i < 4 * seconds; i++) {
        read_ahead_add(ahead, stream, NS_PER_S / 4);
        read_ahead_add(ahead, stream, -NS_PER_S / 4);
    }
}

static void expect_missing(bool missing)
{
    ck_assert_int_eq(read_ahead_misses(ahead, READ_SOUND), missing);
    ck_assert(!read_ahead_misses(ahead, READ_VIDEO));
}

START_TEST(sound_that_ends_early_is_missing_after_three_seconds)
{
    expect_missing(false);
    read_s(READ_SOUND, 1);
    read_s(READ_VIDEO, 2);
    expect_missing(false);
    read_s(READ_VIDEO, 2);
    expect_missing(true);
    read_s(READ_SOUND, 1);
    expect_missing(false);
}
END_TEST

START_TEST(sound_in_large_chunks_is_not_missing)
{
    for (int i = 0; i < 3; i++) {
        read_s(READ_VIDEO, i ? 7 : 5);
        expect_missing(i == 0);
        read_s(READ_SOUND, 5);
    }
    read_s(READ_VIDEO, 12);
    expect_missing(true);
}
END_TEST

START_TEST(sound_that_has_ended_is_not_missing)
{
    read_s(READ_VIDEO, 9);
    read_ahead_want(ahead, READ_SOUND, false);
    expect_missing(false);
}
END_TEST

START_TEST(seek_forgets_what_is_missing)
{
    read_s(READ_VIDEO, 9);
    expect_missing(true);
    read_ahead_want(ahead, READ_VIDEO, true);
    read_ahead_want(ahead, READ_SOUND, true);
    expect_missing(false);
}
END_TEST

int main(void)
{
    TCase *const tests = tcase_create("read_ahead");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, sound_that_ends_early_is_missing_after_three_seconds);
    tcase_add_test(tests, sound_in_large_chunks_is_not_missing);
    tcase_add_test(tests, sound_that_has_ended_is_not_missing);
    tcase_add_test(tests, seek_forgets_what_is_missing);
    return suite_run_case("read_ahead", tests, CK_FORK_GETENV);
}
