/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The media clock and the status line, with invented times. Not covered: real devices (tests/sinks). */
#include "status.h"
#include "sync.h"

#include <check.h>
#include <string.h>

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

enum { WIDE = 500 };

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
    ck_assert_str_eq(status_format(&status, WIDE, line, sizeof line),
                     "AV: 00:00:05 / 00:00:32 (15%) A-V: 0.003 Dropped: 2 aborted / 1 late / 0 skipped");
}
END_TEST

START_TEST(status_line_of_sound_alone_shows_no_skew)
{
    const struct status status = {.has_audio = true, .position_ns = 3661 * S, .skew_ns = FIELD_EMPTY};
    char line[200];
    ck_assert_str_eq(status_format(&status, WIDE, line, sizeof line), "A: 01:01:01");
}
END_TEST

START_TEST(status_line_fits_its_buffer)
{
    const struct status status = {.has_video = true, .duration_ns = 32 * S, .skew_ns = 3 * MS};
    char line[20];
    status_format(&status, WIDE, line, sizeof line);
    ck_assert_str_eq(line, "V: 00:00:00");
}
END_TEST

static const struct status usual = {
    .has_audio = true,
    .has_video = true,
    .position_ns = 5 * S,
    .duration_ns = 32 * S,
    .skew_ns = 3 * MS,
    .totals = {.aborted = 123, .late = 45, .skipped = 678},
};

START_TEST(status_line_says_less_on_a_narrow_terminal)
{
    static const struct {
        int columns;
        const char *playing;
        const char *paused;
    } cases[] = {
        {100, "AV: 00:00:05 / 00:00:32 (15%) A-V: 0.003 Dropped: 123 aborted / 45 late / 678 skipped",
         "(Paused) AV: 00:00:05 / 00:00:32 (15%) A-V: 0.003 Dropped: 123 aborted / 45 late / 678 skipped"},
        {80, "AV: 00:00:05 / 00:00:32 A-V: 0.003 Dropped: 123 aborted / 45 late / 678 skipped",
         "(Paused) AV: 00:00:05 / 00:00:32 (15%) A-V: 0.003 Dropped: 846"},
        {60, "AV: 00:00:05 / 00:00:32 (15%) A-V: 0.003 Dropped: 846",
         "(Paused) AV: 00:00:05 / 00:00:32 A-V: 0.003 Dropped: 846"},
        {50, "AV: 00:00:05 / 00:00:32 A-V: 0.003 Dropped: 846", "(Paused) AV: 00:00:05 A-V: 0.003 Dropped: 846"},
        {40, "AV: 00:00:05 A-V: 0.003 Dropped: 846", "(Paused) AV: 00:00:05 Dropped: 846"},
        {30, "AV: 00:00:05 Dropped: 846", "(Paused) AV: 00:00:05"},
        {20, "AV: 00:00:05", "(Paused) 00:00:05"},
        {10, "00:00:05", "(Paused) "},
        {1, "", ""},
        {0, "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[STATUS_SIZE];
        struct status status = usual;
        ck_assert_str_eq(status_format(&status, cases[i].columns, line, sizeof line), cases[i].playing);
        status.paused = true;
        ck_assert_str_eq(status_format(&status, cases[i].columns, line, sizeof line), cases[i].paused);
    }
}
END_TEST

START_TEST(status_line_never_reaches_the_last_column)
{
    static const int64_t times_ns[] = {0, 3661 * S, 999 * 3600 * S, INT64_MAX};
    static const int64_t skews_ns[] = {FIELD_EMPTY, -INT64_MAX, -400000, 0, 12345 * MS, INT64_MAX};
    for (int columns = STATUS_COLUMNS_MIN; columns <= 200; columns++)
        for (int kind = 0; kind < 8; kind++)
            for (int i = 0; i < 4 * 4 * 6; i++) {
                const int64_t dropped = i % 2 ? INT64_MAX / 3 : 7;
                const struct status status = {
                    .has_audio = kind & 1,
                    .has_video = kind & 2,
                    .paused = kind & 4,
                    .position_ns = times_ns[i % 4],
                    .duration_ns = times_ns[i / 4 % 4],
                    .skew_ns = skews_ns[i / 16],
                    .totals = {.aborted = dropped, .late = dropped, .skipped = dropped},
                };
                char line[STATUS_SIZE];
                suite_check((int)strlen(status_format(&status, columns, line, sizeof line)) < columns);
                suite_check(*line);
                const bool usual_time = status.position_ns < 1000 * 3600 * S;
                suite_check(!status.paused || strstr(line, "(Paused) "));
                suite_check(!usual_time || strstr(line, i % 4 == 0 ? "00:00:00" : i % 4 == 1 ? "01:01:01" : "999:00:00"));
            }
}
END_TEST

START_TEST(status_line_of_a_tiny_skew_has_no_sign)
{
    static const struct {
        int64_t skew_ns;
        const char *end;
    } cases[] = {{-400000, "A-V: 0.000"}, {-600000, "A-V: -0.001"}, {400000, "A-V: 0.000"}, {-1500 * MS, "A-V: -1.500"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct status status = usual;
        char line[STATUS_SIZE];
        status.skew_ns = cases[i].skew_ns;
        ck_assert_ptr_nonnull(strstr(status_format(&status, WIDE, line, sizeof line), cases[i].end));
    }
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
        status_line_fits_its_buffer,
        status_line_says_less_on_a_narrow_terminal,
        status_line_never_reaches_the_last_column,
        status_line_of_a_tiny_skew_has_no_sign,
        NULL,
    };
    return suite_run("sync", SUITE_TIMEOUT_DEFAULT, tests);
}
