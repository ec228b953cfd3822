/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The model of a playing device, with invented times.
 * Not covered: whether a real device behaves like the model; see pulse_test.c.
 */
#include "playout.h"

#include <check.h>
#include <errno.h>

#include "audio_sink.h"
#include "suite.h"

#define MS(n) (INT64_C(1000000) * (n))
#define S(n) (INT64_C(1000000000) * (n))

enum { RATE = 1000 }; /* one frame is a millisecond */

static struct playout playout;
static const int64_t start_ns = S(5000);

static void setup(void)
{
    playout_init(&playout, RATE);
}

static int64_t heard_after(int64_t ns)
{
    int64_t pts_ns = -1;
    ck_assert_int_eq(playout_heard(&playout, start_ns + ns, &pts_ns), 0);
    return pts_ns;
}

START_TEST(nothing_is_heard_before_the_first_sample_has_left)
{
    int64_t pts_ns = 7;
    ck_assert_int_eq(playout_heard(&playout, start_ns, &pts_ns), -EAGAIN);
    playout_append(&playout, 100, S(1));
    ck_assert_int_eq(playout_heard(&playout, start_ns + S(1), &pts_ns), -EAGAIN);
    playout_run(&playout, 0, start_ns);
    ck_assert_int_eq(playout_heard(&playout, start_ns, &pts_ns), -EAGAIN);
    ck_assert_int_eq(pts_ns, 7);
    ck_assert_int_eq(heard_after(MS(1)), S(1) + MS(1));
}
END_TEST

START_TEST(a_device_with_latency_is_heard_later)
{
    playout_append(&playout, 100, S(1));
    playout_run(&playout, -20, start_ns);
    int64_t pts_ns = 7;
    ck_assert_int_eq(playout_heard(&playout, start_ns + MS(20), &pts_ns), -EAGAIN);
    ck_assert_int_eq(heard_after(MS(21)), S(1) + MS(1));
}
END_TEST

START_TEST(first_sample_is_announced_when_the_device_has_it)
{
    int64_t pts_ns = 7;
    playout_append(&playout, 100, S(1));
    ck_assert_int_eq(playout_begins(&playout, start_ns, &pts_ns), -EAGAIN);
    playout_run(&playout, -20, start_ns);
    ck_assert_int_eq(playout_begins(&playout, start_ns + MS(5), &pts_ns), 0);
    ck_assert_int_eq(pts_ns, S(1) - MS(15));
    ck_assert_int_eq(heard_after(MS(21)), S(1) + MS(1));
    ck_assert_int_eq(playout_begins(&playout, start_ns + MS(21), &pts_ns), -EAGAIN);
}
END_TEST

START_TEST(rough_report_corrects_only_what_cannot_be)
{
    playout_append(&playout, 1000, S(1));
    playout_run_between(&playout, -20, 180, start_ns); /* nothing was heard so far */
    ck_assert_int_eq(playout_position(&playout, start_ns + MS(50)), 50);
    playout_run_between(&playout, 0, 200, start_ns + MS(80));
    ck_assert_int_eq(playout_position(&playout, start_ns + MS(80)), 80);
    playout_hold(&playout, start_ns + MS(80));
    playout_run_between(&playout, 0, 200, start_ns + MS(100));
    ck_assert_int_eq(playout_position(&playout, start_ns + MS(100)), 80);
    playout_run_between(&playout, 0, 70, start_ns + MS(101));
    ck_assert_int_eq(playout_position(&playout, start_ns + MS(101)), 70);
    playout_run_between(&playout, 90, 300, start_ns + MS(102));
    ck_assert_int_eq(playout_position(&playout, start_ns + MS(102)), 90);
}
END_TEST

START_TEST(the_position_stops_at_the_last_sample)
{
    playout_append(&playout, 100, S(1));
    playout_run(&playout, 0, start_ns);
    ck_assert_int_eq(heard_after(MS(40)), S(1) + MS(40));
    ck_assert_int_eq(playout_buffered(&playout, start_ns + MS(40)), 60);
    ck_assert_int_eq(heard_after(S(9)), S(1) + MS(100));
    ck_assert_int_eq(playout_buffered(&playout, start_ns + S(9)), 0);
}
END_TEST

START_TEST(sound_after_an_underrun_is_heard_from_its_restart_on)
{
    playout_append(&playout, 100, 0);
    playout_run(&playout, 0, start_ns);
    playout_run(&playout, 100, start_ns + S(3));
    playout_append(&playout, 100, MS(100));
    ck_assert_int_eq(heard_after(S(3) + MS(10)), MS(110));
}
END_TEST

START_TEST(a_held_device_stops_and_continues_from_there)
{
    playout_append(&playout, 100, 0);
    playout_run(&playout, 0, start_ns);
    playout_hold(&playout, start_ns + MS(30));
    ck_assert_int_eq(heard_after(S(2)), MS(30));
    playout_run(&playout, playout_position(&playout, start_ns + S(2)), start_ns + S(2));
    ck_assert_int_eq(heard_after(S(2) + MS(5)), MS(35));
}
END_TEST

START_TEST(rounded_time_stamps_leave_no_gap)
{
    playout_append(&playout, 100, 0);
    playout_append(&playout, 100, MS(104));
    playout_append(&playout, 100, MS(195));
    playout_append(&playout, 100, AUDIO_PTS_UNKNOWN);
    playout_run(&playout, 0, start_ns);
    ck_assert_int_eq(heard_after(MS(150)), MS(150));
    ck_assert_int_eq(heard_after(MS(250)), MS(250));
    ck_assert_int_eq(heard_after(MS(400)), MS(400));
}
END_TEST

START_TEST(a_gap_in_time_stamps_moves_the_clock_when_it_is_heard)
{
    playout_append(&playout, 100, S(1));
    playout_append(&playout, 100, S(10));
    playout_run(&playout, 0, start_ns);
    ck_assert_int_eq(heard_after(MS(99)), S(1) + MS(99));
    ck_assert_int_eq(heard_after(MS(100)), S(10));
    ck_assert_int_eq(heard_after(MS(150)), S(10) + MS(50));
}
END_TEST

START_TEST(overlapping_time_stamps_stop_the_clock_but_never_move_it_back)
{
    playout_append(&playout, 100, S(1));
    playout_append(&playout, 200, S(1) + MS(50));
    playout_run(&playout, 0, start_ns);
    ck_assert_int_eq(heard_after(MS(99)), S(1) + MS(99));
    ck_assert_int_eq(heard_after(MS(110)), S(1) + MS(99));
    ck_assert_int_eq(heard_after(MS(200)), S(1) + MS(150));
}
END_TEST

START_TEST(time_stamps_that_start_again_are_followed)
{
    playout_append(&playout, 100, S(100));
    playout_append(&playout, 100, 0);
    playout_run(&playout, 0, start_ns);
    ck_assert_int_eq(heard_after(MS(99)), S(100) + MS(99));
    ck_assert_int_eq(heard_after(MS(110)), MS(10));
}
END_TEST

START_TEST(a_correction_never_moves_the_clock_back)
{
    playout_append(&playout, 1000, 0);
    playout_run(&playout, 0, start_ns);
    ck_assert_int_eq(heard_after(MS(100)), MS(100));
    playout_run(&playout, 80, start_ns + MS(100));
    ck_assert_int_eq(heard_after(MS(110)), MS(100));
    ck_assert_int_eq(heard_after(MS(130)), MS(110));
}
END_TEST

START_TEST(more_gaps_than_segments_lose_no_sound)
{
    const int blocks = PLAYOUT_SEGMENTS + 10;
    for (int i = 0; i < blocks; i++)
        playout_append(&playout, 10, S(i));
    playout_run(&playout, 0, start_ns);
    ck_assert_int_eq(heard_after(MS(10 * 50 + 1)), S(50) + MS(1));
    ck_assert_int_eq(heard_after(S(60)), S(PLAYOUT_SEGMENTS - 1) + MS(110));
    playout_run(&playout, 10 * blocks, start_ns + S(60));
    playout_append(&playout, 10, S(900));
    ck_assert_int_eq(heard_after(S(60) + MS(1)), S(900) + MS(1));
}
END_TEST

START_TEST(a_month_at_the_highest_rate_does_not_overflow)
{
    const int64_t month_ns = S(INT64_C(31) * 24 * 3600);
    playout_init(&playout, 384000);
    playout_append(&playout, INT64_C(384000) * 32 * 24 * 3600, 0);
    playout_run(&playout, 0, start_ns);
    ck_assert_int_eq(heard_after(month_ns), month_ns);
}
END_TEST

int main(void)
{
    TCase *const cases = tcase_create("playout");
    tcase_set_timeout(cases, SUITE_TIMEOUT_DEFAULT);
    tcase_add_checked_fixture(cases, setup, NULL);
    tcase_add_test(cases, nothing_is_heard_before_the_first_sample_has_left);
    tcase_add_test(cases, a_device_with_latency_is_heard_later);
    tcase_add_test(cases, first_sample_is_announced_when_the_device_has_it);
    tcase_add_test(cases, rough_report_corrects_only_what_cannot_be);
    tcase_add_test(cases, first_sample_is_announced_when_the_device_has_it);
    tcase_add_test(cases, rough_report_corrects_only_what_cannot_be);
    tcase_add_test(cases, the_position_stops_at_the_last_sample);
    tcase_add_test(cases, sound_after_an_underrun_is_heard_from_its_restart_on);
    tcase_add_test(cases, a_held_device_stops_and_continues_from_there);
    tcase_add_test(cases, rounded_time_stamps_leave_no_gap);
    tcase_add_test(cases, a_gap_in_time_stamps_moves_the_clock_when_it_is_heard);
    tcase_add_test(cases, overlapping_time_stamps_stop_the_clock_but_never_move_it_back);
    tcase_add_test(cases, time_stamps_that_start_again_are_followed);
    tcase_add_test(cases, a_correction_never_moves_the_clock_back);
    tcase_add_test(cases, more_gaps_than_segments_lose_no_sound);
    tcase_add_test(cases, a_month_at_the_highest_rate_does_not_overflow);
    return suite_run_case("playout", cases, CK_FORK_GETENV);
}
