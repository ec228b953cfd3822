/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The longest time without a new picture, from the rows of a run. Not covered: run.json, which names it (tests/input). */
#include "freeze.h"
#include "ns.h"

#include <check.h>

#include "suite.h"

/* Adds a picture that is due 40 ms after the one before. late_ms < 0: it is dropped. */
static void add_freeze_row(struct frame_record *rows, int *count, int64_t late_ms)
{
    struct frame_record *const row = &rows[*count];
    *row = frame_record_empty();
    row->pts_ns = 40 * (*count)++ * NS_PER_MS;
    row->verdict = late_ms < 0 ? VERDICT_ABORTED : VERDICT_SHOWN;
    if (late_ms < 0)
        return;
    row->skew_ns = late_ms * NS_PER_MS;
    row->shown_ns = 5 * NS_PER_S + row->pts_ns + row->skew_ns;
}

START_TEST(longest_freeze_is_the_longest_time_between_two_shown_pictures)
{
    struct frame_record rows[8] = {0};
    int count = 0;
    ck_assert_int_eq(freeze_longest_ns(rows, 0), FIELD_EMPTY);
    add_freeze_row(rows, &count, -1);
    ck_assert_int_eq(freeze_longest_ns(rows, count), FIELD_EMPTY);
    add_freeze_row(rows, &count, 5);
    ck_assert_int_eq(freeze_longest_ns(rows, count), 0);
    add_freeze_row(rows, &count, -1);
    ck_assert_int_eq(freeze_longest_ns(rows, count), 35 * NS_PER_MS); /* until the last one was due */
    add_freeze_row(rows, &count, 105);
    ck_assert_int_eq(freeze_longest_ns(rows, count), 180 * NS_PER_MS);
    add_freeze_row(rows, &count, 70);
    ck_assert_int_eq(freeze_longest_ns(rows, count), 180 * NS_PER_MS);
}
END_TEST

START_TEST(pauses_and_seeks_are_no_freezes)
{
    struct frame_record rows[4];
    int count = 0;
    for (int i = 0; i < 4; i++)
        add_freeze_row(rows, &count, 0);
    rows[2].shown_ns += 9 * NS_PER_S; /* the clock stood meanwhile … */
    rows[3].shown_ns += 9 * NS_PER_S;
    rows[3].pts_ns += 60 * NS_PER_S; /* … and moved here */
    ck_assert_int_eq(freeze_longest_ns(rows, count), 40 * NS_PER_MS);
    rows[3].pts_ns = 0; /* back */
    ck_assert_int_eq(freeze_longest_ns(rows, count), 40 * NS_PER_MS);
    for (int i = 0; i < count; i++)
        rows[i].skew_ns = FIELD_EMPTY; /* nobody knows the sound's time: real time counts */
    ck_assert_int_eq(freeze_longest_ns(rows, count), 9 * NS_PER_S + 40 * NS_PER_MS);
}
END_TEST

START_TEST(a_stop_of_the_clock_is_a_freeze_unless_the_player_paused)
{
    struct frame_record rows[4];
    int count = 0;
    for (int i = 0; i < 4; i++)
        add_freeze_row(rows, &count, 0);
    rows[2].shown_ns += 3 * NS_PER_S; /* the clock stood meanwhile … */
    rows[3].shown_ns += 3 * NS_PER_S;
    ck_assert_int_eq(freeze_longest_ns(rows, count), 40 * NS_PER_MS); /* an old record does not say why */
    ck_assert_int_eq(freeze_note_stood(rows, count), 0);
    ck_assert_int_eq(rows[3].stood_ns, 0);
    ck_assert_int_eq(freeze_longest_ns(rows, count), 3 * NS_PER_S + 40 * NS_PER_MS);
    rows[1].stood_ns -= 2 * NS_PER_S; /* … for so long in a pause */
    ck_assert_int_eq(freeze_longest_ns(rows, count), 1 * NS_PER_S + 40 * NS_PER_MS);
    rows[3].stood_ns = 7 * NS_PER_S; /* until the user ended it */
    ck_assert_int_eq(freeze_longest_ns(rows, count), 7 * NS_PER_S);
}
END_TEST

START_TEST(time_stamps_that_jump_make_no_freeze)
{
    struct frame_record rows[6];
    int count = 0;
    for (int i = 0; i < 6; i++)
        add_freeze_row(rows, &count, 0);
    /* Back by three pictures: the rows are in the order of the time stamps, not of time. */
    for (int i = 0; i < 6; i++) {
        rows[i].pts_ns = 20 * i * NS_PER_MS;
        rows[i].shown_ns = (i % 2 ? 120 + 20 * (i - 1) : 20 * i) * NS_PER_MS;
    }
    ck_assert_int_eq(freeze_longest_ns(rows, count), 40 * NS_PER_MS);

    count = 0;
    for (int i = 0; i < 6; i++)
        add_freeze_row(rows, &count, i < 3 ? 0 : -1); /* the last ones are dropped … */
    ck_assert_int_eq(freeze_longest_ns(rows, count), 120 * NS_PER_MS);
    for (int i = 4; i < 6; i++)
        rows[i].pts_ns += 3600 * NS_PER_S; /* … behind a jump */
    ck_assert_int_eq(freeze_longest_ns(rows, count), 80 * NS_PER_MS);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        longest_freeze_is_the_longest_time_between_two_shown_pictures,
        pauses_and_seeks_are_no_freezes,
        a_stop_of_the_clock_is_a_freeze_unless_the_player_paused,
        time_stamps_that_jump_make_no_freeze,
        NULL,
    };
    return suite_run("freeze", SUITE_TIMEOUT_DEFAULT, tests);
}
