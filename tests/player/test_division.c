/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a reservation is divided, with invented times. Not covered: that the kernel takes it (test_placement). */
#include "division.h"

#include <check.h>

#include "ns.h"
#include "suite.h"

#define US NS_PER_US
#define MS NS_PER_MS
#define FRAME (40 * MS)

/* Of 10 ms in each 40 ms. */
enum { FIRST_US = 2200 };

static void learn(struct division *division, int64_t cpu_us, int pictures)
{
    for (int i = 0; i < pictures; i++)
        division_learn(division, cpu_us * US, FRAME);
}

/* Returns the part in us that follows a second later; 0: it stays. */
static int64_t next_part(struct division *division, int64_t part_us)
{
    int64_t part_ns = part_us * US;
    const int64_t now_ns = division->decided_ns + NS_PER_S;
    return division_decide(division, 10 * MS, FRAME, now_ns, &part_ns) ? part_ns / US : 0;
}

START_TEST(presenter_begins_with_its_first_part)
{
    struct division division = {0};
    ck_assert_int_eq(division_first_ns(10 * MS), FIRST_US * US);
    ck_assert_int_eq(next_part(&division, FIRST_US), 0);
    learn(&division, 1000, 15);
    ck_assert_int_eq(next_part(&division, FIRST_US), 0);
    learn(&division, 1000, 1);
    ck_assert_int_ne(next_part(&division, FIRST_US), 0);
}
END_TEST

START_TEST(it_is_decided_once_a_second)
{
    struct division division = {0};
    int64_t part_ns = FIRST_US * US;
    learn(&division, 1000, 25);
    ck_assert(division_decide(&division, 10 * MS, FRAME, NS_PER_S, &part_ns));
    part_ns = FIRST_US * US;
    ck_assert(!division_decide(&division, 10 * MS, FRAME, 2 * NS_PER_S - 1, &part_ns));
    ck_assert_int_eq(part_ns, FIRST_US * US);
    ck_assert(division_decide(&division, 10 * MS, FRAME, 2 * NS_PER_S, &part_ns));
}
END_TEST

START_TEST(costly_pictures_and_a_margin_are_enough)
{
    struct division division = {0};
    for (int i = 0; i < 25; i++)
        learn(&division, i % 2 ? 1500 : 1000, 1);
    ck_assert_int_eq(next_part(&division, FIRST_US), 1750);
    struct division idle = {0};
    learn(&idle, 10, 25);
    ck_assert_int_eq(next_part(&idle, FIRST_US), 500); /* 5 % at least */
}
END_TEST

START_TEST(one_costly_picture_does_not_count)
{
    struct division division = {0};
    learn(&division, 1000, 24);
    learn(&division, 300000, 1);
    ck_assert_int_eq(next_part(&division, FIRST_US), 1300); /* the mean is 1.04 ms */
}
END_TEST

START_TEST(costs_are_forgotten_after_two_blocks)
{
    struct division division = {0};
    learn(&division, 1500, DIVISION_PICTURES);
    learn(&division, 1000, DIVISION_PICTURES);
    ck_assert_int_eq(next_part(&division, 1200), 1750);
    learn(&division, 1000, 1);
    ck_assert_int_lt(next_part(&division, 1750), 1500);
}
END_TEST

/* A screen that needs more than its part would show every picture late. */
START_TEST(presenter_gets_more_than_at_the_beginning_only_for_its_mean)
{
    struct division division = {0};
    learn(&division, 3000, 25);
    ck_assert_int_eq(next_part(&division, FIRST_US), 3750);
    struct division slow = {0};
    learn(&slow, 30000, 25);
    ck_assert_int_eq(next_part(&slow, FIRST_US), 5000);
    struct division some = {0};
    for (int i = 0; i < 25; i++)
        learn(&some, i % 5 ? 1000 : 6000, 1);
    ck_assert_int_eq(next_part(&some, 1000), 2400); /* by the mean, 1.92 ms */
}
END_TEST

START_TEST(pictures_that_become_costly_are_noticed)
{
    struct division division = {0};
    learn(&division, 1000, 200);
    learn(&division, 6000, 2);
    ck_assert_int_eq(next_part(&division, 1200), FIRST_US);
    learn(&division, 6000, 150);
    ck_assert_int_eq(next_part(&division, FIRST_US), 5000);
}
END_TEST

START_TEST(several_pictures_in_a_period_need_more)
{
    struct division sixty = {0}, mixed = {0}, unknown = {0};
    for (int i = 0; i < 25; i++) {
        division_learn(&sixty, 400 * US, FRAME / 2);
        division_learn(&mixed, 400 * US, i ? FRAME : FRAME / 4);
        division_learn(&unknown, 400 * US, 0);
    }
    ck_assert_int_eq(next_part(&sixty, FIRST_US), 2 * 540);
    ck_assert_int_eq(next_part(&mixed, 500), 4 * 540); /* by the least gap */
    ck_assert_int_eq(next_part(&unknown, FIRST_US), 540);
}
END_TEST

START_TEST(small_changes_are_left_alone)
{
    struct division division = {0};
    learn(&division, 1000, 25); /* 1.25 ms */
    ck_assert_int_eq(next_part(&division, 1400), 0);
    ck_assert_int_ne(next_part(&division, 1500), 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        presenter_begins_with_its_first_part,
        it_is_decided_once_a_second,
        costly_pictures_and_a_margin_are_enough,
        one_costly_picture_does_not_count,
        costs_are_forgotten_after_two_blocks,
        presenter_gets_more_than_at_the_beginning_only_for_its_mean,
        pictures_that_become_costly_are_noticed,
        several_pictures_in_a_period_need_more,
        small_changes_are_left_alone,
        NULL,
    };
    return suite_run("division", SUITE_TIMEOUT_DEFAULT, tests);
}
