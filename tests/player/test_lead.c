/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How early the screen begins with a picture, with invented times. Not covered: how long real screens take. */
#include "lead.h"

#include <check.h>

#include "suite.h"

#define US INT64_C(1000)
#define MS (1000 * US)

static void learn(struct lead *lead, int64_t took_ns, int pictures)
{
    for (int i = 0; i < pictures; i++)
        lead_learn(lead, took_ns);
}

static void expect_near(const struct lead *lead, int64_t expected_ns)
{
    ck_assert_int_ge(lead->ns, expected_ns - 250 * US);
    ck_assert_int_le(lead->ns, expected_ns + 250 * US);
}

START_TEST(nothing_is_early_before_a_picture_was_shown)
{
    const struct lead lead = {0};
    ck_assert_int_eq(lead.ns, 0);
}
END_TEST

START_TEST(lead_is_what_showing_takes)
{
    static const int64_t took_ns[] = {0, 200, 1300 * US}; /* the first two as on an ideal screen */
    for (int i = 0; i < 3; i++) {
        struct lead lead = {0};
        learn(&lead, took_ns[i], 25);
        ck_assert_int_eq(lead.ns, took_ns[i]);
    }
}
END_TEST

START_TEST(a_few_pictures_at_which_the_program_was_halted_hardly_move_it)
{
    struct lead lead = {0};
    learn(&lead, 1300 * US, 50);
    for (int i = 0; i < 20; i++) {
        learn(&lead, 30 * MS, 1);
        expect_near(&lead, 1300 * US);
        learn(&lead, 1300 * US, 4);
    }
    ck_assert_int_eq(lead.ns, 1300 * US);
}
END_TEST

START_TEST(another_screen_is_followed_within_two_seconds)
{
    struct lead lead = {0};
    learn(&lead, 4 * MS, 50);
    learn(&lead, 200 * US, 50);
    ck_assert_int_eq(lead.ns, 200 * US);
    learn(&lead, 4 * MS, 50);
    ck_assert_int_eq(lead.ns, 4 * MS);
}
END_TEST

START_TEST(lead_is_at_most_5_ms_and_never_negative)
{
    struct lead lead = {0};
    learn(&lead, 100 * MS, 1000);
    ck_assert_int_eq(lead.ns, 5 * MS);
    for (int i = 0; i < 1000; i++) {
        learn(&lead, 0, 1);
        ck_assert_int_ge(lead.ns, 0);
    }
    ck_assert_int_eq(lead.ns, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        nothing_is_early_before_a_picture_was_shown,
        lead_is_what_showing_takes,
        a_few_pictures_at_which_the_program_was_halted_hardly_move_it,
        another_screen_is_followed_within_two_seconds,
        lead_is_at_most_5_ms_and_never_negative,
        NULL,
    };
    return suite_run("lead", SUITE_TIMEOUT_DEFAULT, tests);
}
