/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is claimed of the learnt cost of pictures, with invented times. Not covered: where it is entered (test_placement.py). */
#include "picture_cost.h"

#include <check.h>

#include "ns.h"
#include "suite.h"

#define MS NS_PER_MS

static void add(struct picture_cost *cost, int64_t cpu_ns, int pictures)
{
    for (int i = 0; i < pictures; i++)
        picture_cost_add(cost, cpu_ns);
}

/* Claims what is due, and returns it; zeroes: nothing. */
static struct picture_cost_claim claim_due(struct picture_cost *cost)
{
    struct picture_cost_claim claim = {0};
    if (picture_cost_is_due(cost, &claim))
        picture_cost_claimed(cost, &claim);
    return claim;
}

static void expect_claim(struct picture_cost *cost, int64_t mean_ns, int64_t longest_ns)
{
    const struct picture_cost_claim claim = claim_due(cost);
    ck_assert_int_eq(claim.mean_ns, mean_ns);
    ck_assert_int_eq(claim.longest_ns, longest_ns);
}

/* Returns the costs of a film of 5 ms a picture, which are claimed. */
static struct picture_cost known(void)
{
    struct picture_cost cost = {0};
    add(&cost, 5 * MS, PICTURE_COST_KNOWN);
    expect_claim(&cost, 5 * MS, 6 * MS);
    return cost;
}

START_TEST(nothing_is_claimed_before_enough_pictures)
{
    struct picture_cost cost = {0};
    add(&cost, 5 * MS, PICTURE_COST_KNOWN - 1);
    expect_claim(&cost, 0, 0);
    add(&cost, 5 * MS, 1);
    expect_claim(&cost, 5 * MS, 6 * MS);
}
END_TEST

START_TEST(first_pictures_do_not_count)
{
    struct picture_cost cost = {0};
    add(&cost, 300 * MS, PICTURE_COST_LEFT_OUT);
    add(&cost, 5 * MS, PICTURE_COST_KNOWN);
    expect_claim(&cost, 5 * MS, 6 * MS);
}
END_TEST

START_TEST(longest_that_exceeds_the_claimed_one_is_claimed_at_once)
{
    struct picture_cost cost = known();
    add(&cost, 6 * MS, 1);
    expect_claim(&cost, 0, 0);
    add(&cost, 10 * MS, 1);
    struct picture_cost_claim claim;
    ck_assert(picture_cost_is_due(&cost, &claim));
    ck_assert_int_eq(claim.longest_ns, 12 * MS);
    ck_assert(picture_cost_is_due(&cost, &claim)); /* it stays due until it is claimed */
    picture_cost_claimed(&cost, &claim);
    expect_claim(&cost, 0, 0);
}
END_TEST

START_TEST(another_mean_is_claimed_after_enough_pictures)
{
    struct picture_cost cost = known();
    add(&cost, 2 * MS, PICTURE_COST_KNOWN - 1);
    expect_claim(&cost, 0, 0);
    add(&cost, 2 * MS, 1);
    const struct picture_cost_claim claim = claim_due(&cost);
    ck_assert_int_gt(claim.mean_ns, 2 * MS);
    ck_assert_int_lt(claim.mean_ns, 4 * MS);
    ck_assert_int_eq(claim.longest_ns, 6 * MS); /* what was longest stays possible */
}
END_TEST

START_TEST(mean_that_differs_little_is_not_claimed)
{
    struct picture_cost cost = known();
    add(&cost, 5 * MS + MS / 2, 10 * PICTURE_COST_KNOWN);
    expect_claim(&cost, 0, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        nothing_is_claimed_before_enough_pictures,
        first_pictures_do_not_count,
        longest_that_exceeds_the_claimed_one_is_claimed_at_once,
        another_mean_is_claimed_after_enough_pictures,
        mean_that_differs_little_is_not_claimed,
        NULL,
    };
    return suite_run("picture_cost", SUITE_TIMEOUT_DEFAULT, tests);
}
