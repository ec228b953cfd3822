/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The media clock and the status line, with invented times. Not covered: real devices (tests/sinks). */
#include "status.h"
#include "sync.h"

#include <check.h>

#include "suite.h"

#define MS INT64_C(1000000)
#define S (1000 * MS)

static struct sync running_from(int64_t pts_ns, int64_t now_ns)
{
    struct sync sync;
    sync_init(&sync, pts_ns, false);
    sync_start(&sync, now_ns);
    return sync;
}

START_TEST(clock_does_not_run_until_it_is_started)
{
    struct sync sync;
    sync_init(&sync, 3 * S, false);
    ck_assert_int_eq(sync_media_ns(&sync, 100 * S), 3 * S);
}
END_TEST

START_TEST(clock_runs_with_monotonic_time)
{
    const struct sync sync = running_from(3 * S, 100 * S);
    ck_assert_int_eq(sync_media_ns(&sync, 102 * S), 5 * S);
}
END_TEST

START_TEST(heard_sound_sets_the_clock)
{
    struct sync sync = running_from(0, 100 * S);
    sync_observe(&sync, 900 * MS, 101 * S);
    ck_assert_int_eq(sync_media_ns(&sync, 101 * S + 50 * MS), 950 * MS);
}
END_TEST

START_TEST(a_pause_stops_the_clock)
{
    struct sync sync = running_from(0, 100 * S);
    sync_stop(&sync, 101 * S);
    ck_assert_int_eq(sync_media_ns(&sync, 150 * S), 1 * S);
    sync_start(&sync, 200 * S);
    ck_assert_int_eq(sync_media_ns(&sync, 201 * S), 2 * S);
}
END_TEST

START_TEST(starting_twice_changes_nothing)
{
    struct sync sync = running_from(0, 100 * S);
    sync_start(&sync, 105 * S);
    ck_assert_int_eq(sync_media_ns(&sync, 106 * S), 6 * S);
}
END_TEST

START_TEST(skew_is_positive_when_the_video_is_late)
{
    const struct sync sync = running_from(0, 100 * S);
    ck_assert_int_eq(sync_skew_ns(&sync, 960 * MS, 101 * S), 40 * MS);
    ck_assert_int_eq(sync_skew_ns(&sync, 1040 * MS, 101 * S), -40 * MS);
    ck_assert_int_eq(sync_wait_ns(&sync, 1040 * MS, 101 * S), 40 * MS);
}
END_TEST

START_TEST(untimed_never_waits)
{
    struct sync sync;
    sync_init(&sync, 0, true);
    sync_start(&sync, 100 * S);
    ck_assert_int_eq(sync_wait_ns(&sync, 500 * S, 101 * S), 0);
    ck_assert_int_eq(sync_skew_ns(&sync, 500 * S, 101 * S), 0);
}
END_TEST

START_TEST(status_line_is_as_documented)
{
    const struct status status = {
        .has_audio = true,
        .has_video = true,
        .position_ns = 5 * S,
        .duration_ns = 32 * S,
        .skew_ns = 3 * MS,
        .totals = {.aborted = 2, .late = 1},
    };
    char line[200];
    ck_assert_str_eq(status_format(&status, line, sizeof line),
                     "AV: 00:00:05 / 00:00:32 (15%) A-V: 0.003 Dropped: 2 aborted / 1 late / 0 skipped");
}
END_TEST

START_TEST(status_line_of_sound_alone_shows_no_skew)
{
    const struct status status = {.has_audio = true, .position_ns = 3661 * S, .skew_ns = FIELD_EMPTY};
    char line[200];
    ck_assert_str_eq(status_format(&status, line, sizeof line), "A: 01:01:01");
}
END_TEST

START_TEST(status_line_is_cut_to_the_size_of_its_buffer)
{
    const struct status status = {.has_video = true, .duration_ns = 32 * S, .skew_ns = 3 * MS};
    char line[20];
    status_format(&status, line, sizeof line);
    ck_assert_str_eq(line, "V: 00:00:00 / 00:00");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        clock_does_not_run_until_it_is_started,
        clock_runs_with_monotonic_time,
        heard_sound_sets_the_clock,
        a_pause_stops_the_clock,
        starting_twice_changes_nothing,
        skew_is_positive_when_the_video_is_late,
        untimed_never_waits,
        status_line_is_as_documented,
        status_line_of_sound_alone_shows_no_skew,
        status_line_is_cut_to_the_size_of_its_buffer,
        NULL,
    };
    return suite_run("sync", SUITE_TIMEOUT_DEFAULT, tests);
}
