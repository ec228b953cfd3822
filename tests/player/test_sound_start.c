/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When sound starts without a picture, in virtual time. Not covered: real decoders and files (tests/sinks, tests/input). */
#include "sound_start.h"

#include <check.h>

#include "suite.h"

#define MS INT64_C(1000000)
#define S (1000 * MS)

/* The main thread looks for pictures so often. */
#define STEP (20 * MS)

static struct sound_start start;
static int64_t now_ns;

static void setup(void)
{
    start = (struct sound_start){0};
    now_ns = 77 * S;
}

/* Nothing is there to show for a time. Returns how long it took until the sound was to start; -1: it was not. */
static int64_t starve(int64_t time_ns, bool decoder_waits)
{
    const int64_t begin_ns = now_ns;
    for (; now_ns <= begin_ns + time_ns; now_ns += STEP)
        if (sound_start_without_picture(&start, decoder_waits, now_ns))
            return now_ns - begin_ns;
    return -1;
}

START_TEST(sound_waits_while_pictures_are_being_decoded)
{
    ck_assert_int_eq(starve(SOUND_START_UNDECODED_NS, false), -1);
}
END_TEST

START_TEST(sound_waits_no_longer_than_ten_seconds)
{
    ck_assert_int_eq(SOUND_START_UNDECODED_NS, 10 * S);
    ck_assert_int_eq(starve(20 * S, false), 10 * S + STEP);
}
END_TEST

START_TEST(sound_starts_when_the_decoder_has_waited_for_packets_for_half_a_second)
{
    ck_assert_int_eq(starve(20 * S, true), 500 * MS + STEP);
}
END_TEST

START_TEST(decoder_that_gets_packets_again_is_waited_for)
{
    ck_assert_int_eq(starve(400 * MS, true), -1);
    ck_assert_int_eq(starve(400 * MS, false), -1);
    ck_assert_int_eq(starve(400 * MS, true), -1);
}
END_TEST

/* From a pipe that is written in real time, each packet is taken at once. */
START_TEST(decoder_that_decodes_one_packet_after_the_other_is_waited_for)
{
    for (int packet = 0; packet < 10; packet++) {
        ck_assert_int_eq(starve(400 * MS, true), -1);
        sound_start_note_job(&start);
    }
    ck_assert_int_eq(starve(20 * S, true), 500 * MS + STEP);
}
END_TEST

START_TEST(packets_that_give_no_picture_do_not_delay_the_sound_beyond_ten_seconds)
{
    int64_t waited_ns = 0;
    while (starve(80 * MS, false) < 0 && waited_ns < 60 * S) {
        waited_ns += 100 * MS;
        sound_start_note_job(&start);
    }
    ck_assert_int_eq(waited_ns, 10 * S);
}
END_TEST

START_TEST(picture_ends_the_wait_and_says_how_long_it_was)
{
    ck_assert_int_eq(sound_start_note_picture(&start, now_ns), 0);
    const int64_t begin_ns = now_ns;
    ck_assert_int_eq(starve(9 * S, false), -1);
    ck_assert_int_eq(sound_start_note_picture(&start, now_ns), now_ns - begin_ns);
    ck_assert_int_eq(starve(9 * S, false), -1);
    ck_assert_int_eq(starve(400 * MS, true), -1);
}
END_TEST

int main(void)
{
    static const TTest *const *const tests[] = {
        &sound_waits_while_pictures_are_being_decoded,
        &sound_waits_no_longer_than_ten_seconds,
        &sound_starts_when_the_decoder_has_waited_for_packets_for_half_a_second,
        &decoder_that_gets_packets_again_is_waited_for,
        &decoder_that_decodes_one_packet_after_the_other_is_waited_for,
        &packets_that_give_no_picture_do_not_delay_the_sound_beyond_ten_seconds,
        &picture_ends_the_wait_and_says_how_long_it_was,
    };
    TCase *const tcase = tcase_create("sound_start");
    tcase_set_timeout(tcase, SUITE_TIMEOUT_DEFAULT);
    tcase_add_checked_fixture(tcase, setup, NULL);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(tcase, *tests[i]);
    return suite_run_case("sound_start", tcase, CK_FORK_GETENV);
}
