/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which packets and pictures belong to the part that is played, with invented time stamps. Not covered: time stamps of
 * real containers (tests/input/test_seeking.py).
 */
#include "pace.h"

#include <check.h>

#include "ns.h"
#include "suite.h"

#define MS NS_PER_MS
#define S  NS_PER_S

static const struct part whole = {.from_ns = INT64_MIN, .end_ns = INT64_MAX, .frame_duration = {40 * MS - FRAME_DURATION_MIN_NS}};
static const struct part from_2_to_4_s = {.from_ns = 2 * S, .end_ns = 4 * S, .frame_duration = {40 * MS - FRAME_DURATION_MIN_NS}};

static struct feed_pace feed_of(const struct part *part, bool may_jump)
{
    struct feed_pace pace = {.may_jump = may_jump};
    feed_pace_restart(&pace, part);
    return pace;
}

static struct packet_place feed(struct feed_pace *pace, int64_t pts_ns, bool key)
{
    const struct packet_times packet = {.dts_ns = NS_UNKNOWN, .pts_ns = pts_ns, .key = key};
    return feed_pace_packet(pace, &packet);
}

START_TEST(packets_before_the_first_key_frame_of_a_pre_roll_are_skipped)
{
    struct feed_pace pace = feed_of(&from_2_to_4_s, false);
    ck_assert(feed(&pace, 1 * S, false).undecodable);
    const struct packet_place key = feed(&pace, 1 * S + 40 * MS, true);
    ck_assert(key.unwanted && !key.undecodable);
    const struct packet_place behind = feed(&pace, 1 * S + 80 * MS, false);
    ck_assert(behind.unwanted && !behind.undecodable);
    ck_assert(!feed(&pace, 2 * S, false).unwanted);
}
END_TEST

START_TEST(playing_from_the_beginning_has_no_pre_roll)
{
    struct feed_pace pace = feed_of(&whole, false);
    ck_assert(!feed(&pace, -1 * S, false).unwanted);
}
END_TEST

START_TEST(discarded_packets_are_decoded_and_unwanted)
{
    struct feed_pace pace = feed_of(&whole, false);
    const struct packet_times packet = {.dts_ns = NS_UNKNOWN, .pts_ns = -1 * S, .discarded = true};
    const struct packet_place place = feed_pace_packet(&pace, &packet);
    ck_assert(place.unwanted && !place.undecodable);
    ck_assert(!feed(&pace, 0, false).unwanted);
}
END_TEST

/* Those before the second part of an edit list have the time stamps of the first part. */
START_TEST(discarded_packets_never_begin_a_segment)
{
    struct feed_pace pace = feed_of(&whole, true);
    for (int i = 0; i < 100; i++)
        feed(&pace, i * 40 * MS, i == 0);
    const int segment = pace.segment;
    static const int64_t dts_s[] = {-20, 40};
    for (int i = 0; i < 2; i++) {
        const struct packet_times packet = {.dts_ns = dts_s[i] * S, .pts_ns = dts_s[i] * S, .key = true, .discarded = true};
        ck_assert_int_eq(feed_pace_packet(&pace, &packet).segment, segment);
    }
    ck_assert_int_eq(feed(&pace, 100 * 40 * MS, false).segment, segment);
    ck_assert(!pace.jumped);
}
END_TEST

START_TEST(a_packet_without_a_time_stamp_is_wanted)
{
    struct feed_pace pace = feed_of(&from_2_to_4_s, false);
    ck_assert(!feed(&pace, NS_UNKNOWN, false).unwanted);
}
END_TEST

START_TEST(a_seek_begins_a_segment)
{
    struct feed_pace pace = feed_of(&whole, false);
    ck_assert_int_eq(feed(&pace, 0, true).segment, 1);
    feed_pace_restart(&pace, &from_2_to_4_s);
    ck_assert_int_eq(feed(&pace, 2 * S, true).segment, 2);
}
END_TEST

START_TEST(time_stamps_that_go_far_back_begin_a_segment)
{
    struct feed_pace pace = feed_of(&from_2_to_4_s, false);
    feed(&pace, 3600 * S, true);
    ck_assert_int_eq(feed(&pace, 3590 * S + 40 * MS, false).segment, 1); /* back by only 10 s */
    ck_assert_int_eq(feed(&pace, 0, false).segment, 2);
    ck_assert(!feed(&pace, 40 * MS, false).unwanted); /* after a jump it is unknown what lies before the part */
}
END_TEST

START_TEST(decode_time_stamps_that_go_back_by_more_than_a_second_begin_a_segment)
{
    struct feed_pace pace = feed_of(&whole, false);
    const int64_t dts_ns[] = {5 * S, 4 * S + 40 * MS, 3 * S, 3 * S + 40 * MS};
    const int segments[] = {1, 1, 2, 2};
    for (int i = 0; i < 4; i++) {
        const struct packet_times packet = {.dts_ns = dts_ns[i], .pts_ns = dts_ns[i]};
        ck_assert_int_eq(feed_pace_packet(&pace, &packet).segment, segments[i]);
    }
}
END_TEST

START_TEST(the_last_jump_back_is_known_until_a_seek)
{
    struct feed_pace pace = feed_of(&whole, true);
    feed(&pace, 30 * S, true);
    ck_assert_int_eq(pace.back_segment, 0);
    feed(&pace, 60 * S, true);
    ck_assert_int_eq(pace.back_segment, 0); /* ahead */
    feed(&pace, 0, true);
    feed(&pace, 40 * MS, false);
    ck_assert_int_eq(pace.back_segment, 3);
    feed(&pace, 60 * S, true);
    ck_assert_int_eq(pace.back_segment, 3);
    feed_pace_restart(&pace, &whole);
    ck_assert_int_eq(pace.back_segment, 0);
}
END_TEST

START_TEST(time_stamps_that_go_far_ahead_begin_a_segment_where_the_format_may_jump)
{
    struct feed_pace stays = feed_of(&whole, false);
    feed(&stays, 0, true);
    ck_assert_int_eq(feed(&stays, 60 * S, true).segment, 1); /* one picture is shown for a long time */
    struct feed_pace jumps = feed_of(&whole, true);
    feed(&jumps, 0, true);
    ck_assert_int_eq(feed(&jumps, 60 * S, true).segment, 2);
}
END_TEST

static struct show_pace show_of(const struct part *part)
{
    struct show_pace pace;
    show_pace_restart(&pace, part, 1, 7 * S);
    return pace;
}

START_TEST(a_picture_without_a_time_stamp_follows_the_one_before)
{
    struct show_pace pace = show_of(&whole);
    ck_assert_int_eq(show_pace_picture(&pace, 1, NS_UNKNOWN, 0).pts_ns, 7 * S); /* the position where reading began */
    ck_assert_int_eq(show_pace_picture(&pace, 1, NS_UNKNOWN, 20 * MS).pts_ns, 7 * S + 40 * MS);
    ck_assert_int_eq(show_pace_picture(&pace, 1, NS_UNKNOWN, 0).pts_ns, 7 * S + 60 * MS);
}
END_TEST

START_TEST(pictures_of_unknown_time_before_a_part_are_unwanted)
{
    struct show_pace pace;
    show_pace_restart(&pace, &from_2_to_4_s, 1, NS_UNKNOWN);
    ck_assert(show_pace_picture(&pace, 1, NS_UNKNOWN, 0).unwanted);
    ck_assert(show_pace_picture(&pace, 1, NS_UNKNOWN, 40 * MS).unwanted);
    ck_assert(!show_pace_picture(&pace, 1, 2 * S, 0).unwanted);
    const struct picture_place next = show_pace_picture(&pace, 1, NS_UNKNOWN, 0);
    ck_assert(!next.unwanted);
    ck_assert_int_eq(next.pts_ns, 2 * S + 40 * MS);
}
END_TEST

START_TEST(pictures_outside_the_part_are_unwanted)
{
    struct show_pace pace = show_of(&from_2_to_4_s);
    ck_assert(show_pace_picture(&pace, 1, 2 * S - 40 * MS, 0).unwanted);
    ck_assert(!show_pace_picture(&pace, 1, 2 * S, 0).unwanted);
    ck_assert(!show_pace_picture(&pace, 1, 4 * S - 1, 0).unwanted);
    ck_assert(show_pace_picture(&pace, 1, 4 * S, 0).unwanted);
}
END_TEST

START_TEST(a_long_picture_that_began_before_the_part_is_due_at_its_start)
{
    struct show_pace pace = show_of(&from_2_to_4_s);
    const struct picture_place place = show_pace_picture(&pace, 1, 1 * S, 10 * S);
    ck_assert(!place.unwanted);
    ck_assert_int_eq(show_pace_due_ns(&pace, place.pts_ns), 2 * S);
    ck_assert_int_eq(show_pace_due_ns(&pace, 3 * S), 3 * S);
}
END_TEST

START_TEST(a_jump_is_measured_from_the_expected_time)
{
    struct show_pace pace = show_of(&from_2_to_4_s);
    show_pace_picture(&pace, 1, 3 * S, 0);
    const struct picture_place place = show_pace_picture(&pace, 2, 100 * MS, 0);
    ck_assert(place.jumped && !place.unwanted); /* after the jump the part's start has no meaning */
    ck_assert_int_eq(place.jump_ns, 100 * MS - (3 * S + 40 * MS));
    ck_assert(!show_pace_picture(&pace, 2, 140 * MS, 0).jumped);
}
END_TEST

START_TEST(a_jump_before_the_first_picture_has_unknown_length)
{
    struct show_pace pace = show_of(&whole);
    const struct picture_place place = show_pace_picture(&pace, 2, 100 * S, 0);
    ck_assert(place.jumped);
    ck_assert_int_eq(place.jump_ns, NS_UNKNOWN);
}
END_TEST

START_TEST(the_next_picture_to_present_may_have_been_held_back)
{
    struct show_pace pace = show_of(&whole);
    ck_assert_int_eq(show_pace_next_ns(&pace, 1, NS_UNKNOWN), NS_UNKNOWN);
    ck_assert_int_eq(show_pace_next_ns(&pace, 1, 120 * MS), 120 * MS);
    show_pace_picture(&pace, 1, 0, 0);
    ck_assert_int_eq(show_pace_next_ns(&pace, 1, 120 * MS), 40 * MS); /* a reference picture that is decoded early */
    ck_assert_int_eq(show_pace_next_ns(&pace, 1, 20 * MS), 20 * MS);
    ck_assert_int_eq(show_pace_next_ns(&pace, 1, NS_UNKNOWN), 40 * MS);
    ck_assert_int_eq(show_pace_next_ns(&pace, 2, 3600 * S), 40 * MS); /* after a jump */
}
END_TEST

/* Frames of 40 ms: two pictures have not come out, and do not wait for this packet. */
START_TEST(pictures_decoded_at_the_same_time_do_not_wait)
{
    struct show_pace pace = show_of(&whole);
    ck_assert_int_eq(show_pace_first_waiting_ns(&pace, 1, NS_UNKNOWN, 2), NS_UNKNOWN);
    show_pace_picture(&pace, 1, 0, 0);
    ck_assert_int_eq(show_pace_first_waiting_ns(&pace, 1, 400 * MS, 0), 40 * MS);
    ck_assert_int_eq(show_pace_first_waiting_ns(&pace, 1, 400 * MS, 2), 120 * MS);
    ck_assert_int_eq(show_pace_first_waiting_ns(&pace, 1, 80 * MS, 2), 80 * MS); /* its own picture waits for it */
    ck_assert_int_eq(show_pace_first_waiting_ns(&pace, 1, 20 * MS, 2), 20 * MS);
    ck_assert_int_eq(show_pace_first_waiting_ns(&pace, 1, NS_UNKNOWN, 2), 120 * MS);
    ck_assert_int_eq(show_pace_first_waiting_ns(&pace, 2, 3600 * S, 2), 40 * MS); /* after a jump */
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        packets_before_the_first_key_frame_of_a_pre_roll_are_skipped,
        playing_from_the_beginning_has_no_pre_roll,
        discarded_packets_are_decoded_and_unwanted,
        discarded_packets_never_begin_a_segment,
        a_packet_without_a_time_stamp_is_wanted,
        a_seek_begins_a_segment,
        time_stamps_that_go_far_back_begin_a_segment,
        decode_time_stamps_that_go_back_by_more_than_a_second_begin_a_segment,
        the_last_jump_back_is_known_until_a_seek,
        time_stamps_that_go_far_ahead_begin_a_segment_where_the_format_may_jump,
        a_picture_without_a_time_stamp_follows_the_one_before,
        pictures_of_unknown_time_before_a_part_are_unwanted,
        pictures_outside_the_part_are_unwanted,
        a_long_picture_that_began_before_the_part_is_due_at_its_start,
        a_jump_is_measured_from_the_expected_time,
        a_jump_before_the_first_picture_has_unknown_length,
        the_next_picture_to_present_may_have_been_held_back,
        pictures_decoded_at_the_same_time_do_not_wait,
        NULL,
    };
    return suite_run("pace", SUITE_TIMEOUT_DEFAULT, tests);
}
