/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What rule plan knows of its windows: which of the last pictures were lost, and which picture would be one loss too many. Not
 * covered: what it decides with that (test_window_plan.c), and who notes the losses (test_look_ahead.c).
 */
#include "loss_history.h"
#include "ns.h"
#include "plan_windows.h"

#include <check.h>

#include "suite.h"

#define FRAME_NS (40 * NS_PER_MS)

static struct loss_history past;

static void setup(void)
{
    loss_history_clear(&past);
}

/* -- the past --------------------------------------------------------------------------------------------------- */

static void add(int64_t number, int64_t due_ms)
{
    loss_history_add(&past, &(struct past_picture){number, due_ms * NS_PER_MS, false});
}

START_TEST(history_is_in_presentation_order)
{
    static const int64_t due_ms[] = {0, 120, 40, 80, 200, 160};
    for (int i = 0; i < 6; i++)
        add(i, due_ms[i]);
    ck_assert_int_eq(past.count, 6);
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(past.pictures[i].due_ns, i * FRAME_NS);
    loss_history_lose(&past, 3);
    loss_history_lose(&past, 77);
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(past.pictures[i].lost, i == 2);
}
END_TEST

START_TEST(history_forgets_what_was_added_first)
{
    for (int i = 0; i < LOSS_HISTORY_MAX; i++)
        add(i, i);
    add(LOSS_HISTORY_MAX, -5); /* the time stamps went back a little */
    add(LOSS_HISTORY_MAX + 1, -4);
    ck_assert_int_eq(past.count, LOSS_HISTORY_MAX);
    ck_assert_int_eq(past.pictures[0].number, LOSS_HISTORY_MAX);
    ck_assert_int_eq(past.pictures[1].number, LOSS_HISTORY_MAX + 1);
    ck_assert_int_eq(past.pictures[2].number, 2);
}
END_TEST

START_TEST(jump_of_the_time_stamps_forgets_all_before_it)
{
    add(0, 0);
    add(1, 10000);
    ck_assert_int_eq(past.count, 2);
    add(2, 20001);
    ck_assert_int_eq(past.count, 1);
    add(3, 10000);
    ck_assert_int_eq(past.count, 1);
    ck_assert_int_eq(past.pictures[0].number, 3);
}
END_TEST

/* -- windows ---------------------------------------------------------------------------------------------------- */

static void expect_forbidden(const struct plan_windows *windows, const char *letters)
{
    for (int place = 0; letters[place]; place++)
        ck_assert_msg(plan_windows_forbid(windows, place) == (letters[place] == 'x'), "%s, place %d", letters, place);
}

START_TEST(losses_forbid_others_in_their_windows)
{
    struct plan_windows windows;
    struct upcoming ahead[8];
    for (int i = 0; i < 8; i++)
        ahead[i] = (struct upcoming){i * FRAME_NS, 1000, CLASS_DROPPABLE};
    plan_windows_init(&windows, &(struct window){1, 3}, NULL, ahead, 8);
    expect_forbidden(&windows, "........");
    plan_windows_lose(&windows, 4);
    expect_forbidden(&windows, "..xxxxx.");
    plan_windows_init(&windows, &(struct window){2, 4}, NULL, ahead, 8);
    plan_windows_lose(&windows, 3);
    plan_windows_lose(&windows, 5);
    expect_forbidden(&windows, "..xxxxx.");
    plan_windows_init(&windows, &(struct window){0, 4}, NULL, ahead, 8);
    expect_forbidden(&windows, "xxxxxxxx");
    plan_windows_init(&windows, &(struct window){8, 8}, NULL, ahead, 8);
    for (int place = 0; place < 7; place++)
        plan_windows_lose(&windows, place);
    expect_forbidden(&windows, "........");
}
END_TEST

START_TEST(losses_of_the_past_count_in_presentation_order)
{
    static const int64_t due_ms[] = {40, 80, 120, 160, 280}; /* the last one is a reference that was decoded before */
    const struct upcoming ahead[] = {{240 * NS_PER_MS, 1000, CLASS_DROPPABLE}, {200 * NS_PER_MS, 1000, CLASS_DROPPABLE}};
    struct plan_windows windows;
    for (int i = 0; i < 5; i++)
        add(i, due_ms[i]);
    loss_history_lose(&past, 0);
    loss_history_lose(&past, 2);
    plan_windows_init(&windows, &(struct window){1, 3}, &past, ahead, 2);
    ck_assert_int_eq(windows.count, 7);
    ck_assert_int_eq(windows.place_of[0], 5);
    ck_assert_int_eq(windows.place_of[1], 4);
    expect_forbidden(&windows, "xxxxx..");
}
END_TEST

int main(void)
{
    static const TTest *const *const tests[] = {
        &history_is_in_presentation_order,
        &history_forgets_what_was_added_first,
        &jump_of_the_time_stamps_forgets_all_before_it,
        &losses_forbid_others_in_their_windows,
        &losses_of_the_past_count_in_presentation_order,
    };
    TCase *const tcase = tcase_create("loss_history");
    tcase_set_timeout(tcase, SUITE_TIMEOUT_DEFAULT);
    tcase_add_checked_fixture(tcase, setup, NULL);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(tcase, *tests[i]);
    return suite_run_case("loss_history", tcase, CK_FORK_GETENV);
}
