/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sum of all reservations of a player. */
#include "budget_sum.h"

#include <errno.h>

#include "sim_random.h"
#include "suite.h"

#define MS INT64_C(1000000)

enum { WISHES = 12 };

static double granted(const struct budget_wish *wishes, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += (double)wishes[i].granted_ns / (double)wishes[i].period_ns;
    return sum;
}

START_TEST(wishes_that_fit_are_granted_in_full)
{
    struct budget_wish wishes[] = {{.wanted_ns = 8 * MS, .period_ns = 40 * MS}, {.wanted_ns = 16 * MS, .period_ns = 40 * MS}};
    ck_assert_int_eq(budget_sum_grant(wishes, 2, budget_sum_default, MS), 0);
    ck_assert_int_eq(wishes[0].granted_ns, 8 * MS);
    ck_assert_int_eq(wishes[1].granted_ns, 16 * MS);
}
END_TEST

START_TEST(too_many_large_wishes_get_equal_parts_of_a_cpu)
{
    struct budget_wish wishes[] = {{.wanted_ns = 16 * MS, .period_ns = 40 * MS}, {.wanted_ns = 16 * MS, .period_ns = 20 * MS}};
    ck_assert_int_eq(budget_sum_grant(wishes, 2, 0.6, MS), 1);
    ck_assert_int_le(12 * MS - wishes[0].granted_ns, 1); /* but for rounding */
    ck_assert_int_le(6 * MS - wishes[1].granted_ns, 1);
    ck_assert_double_le(granted(wishes, 2), 0.6 + 1e-9);
}
END_TEST

START_TEST(small_wish_is_granted_in_full_beside_a_large_one)
{
    struct budget_wish wishes[] = {{.wanted_ns = 2 * MS, .period_ns = 40 * MS}, {.wanted_ns = 100 * MS, .period_ns = 100 * MS}};
    ck_assert_int_eq(budget_sum_grant(wishes, 2, 0.6, MS), 1);
    ck_assert_int_eq(wishes[0].granted_ns, 2 * MS);
    ck_assert_int_le(wishes[1].granted_ns, 55 * MS);
    ck_assert_int_ge(wishes[1].granted_ns, 55 * MS - 1);
}
END_TEST

/* Of 0.6 each would have 0.3. With at least 4 ms of 10 for one, the other has 0.2. */
START_TEST(least_budget_is_paid_by_the_others)
{
    struct budget_wish wishes[] = {{.wanted_ns = 5 * MS, .period_ns = 10 * MS}, {.wanted_ns = 100 * MS, .period_ns = 100 * MS}};
    ck_assert_int_eq(budget_sum_grant(wishes, 2, 0.6, 4 * MS), 1);
    ck_assert_int_eq(wishes[0].granted_ns, 4 * MS);
    ck_assert_int_le(wishes[1].granted_ns, 20 * MS);
    ck_assert_int_ge(wishes[1].granted_ns, 20 * MS - 1);
}
END_TEST

START_TEST(less_than_the_least_budget_stays_as_it_is)
{
    struct budget_wish wishes[] = {{.wanted_ns = MS / 10, .period_ns = 40 * MS}, {.wanted_ns = 40 * MS, .period_ns = 40 * MS}};
    ck_assert_int_eq(budget_sum_grant(wishes, 2, 0.6, MS), 1);
    ck_assert_int_eq(wishes[0].granted_ns, MS / 10);
}
END_TEST

START_TEST(least_budgets_that_do_not_fit_are_an_error)
{
    struct budget_wish wishes[] = {{.wanted_ns = 10 * MS, .period_ns = 10 * MS}, {.wanted_ns = 10 * MS, .period_ns = 10 * MS}};
    ck_assert_int_eq(budget_sum_grant(wishes, 2, 0.6, 4 * MS), -ENOSPC);
    ck_assert_int_eq(wishes[0].granted_ns, 0);
    ck_assert_int_eq(wishes[1].granted_ns, 0);
}
END_TEST

START_TEST(no_wishes_are_no_error)
{
    ck_assert_int_eq(budget_sum_grant(NULL, 0, 0.6, MS), 0);
}
END_TEST

/* The bound holds. Nobody has more than wanted or less than the least budget. If wishes were reduced, nothing is left over. */
START_TEST(grants_use_the_bound_and_no_more)
{
    struct sim_random random;
    sim_random_init(&random, 1);
    int results[3] = {0};
    for (int round = 0; round < 5000; round++) {
        struct budget_wish wishes[WISHES];
        const int count = 1 + (int)(sim_random_uniform(&random) * WISHES);
        for (int i = 0; i < count; i++) {
            const double period_ns = (5 + sim_random_uniform(&random) * 95) * (double)MS;
            const double share = sim_random_uniform(&random) * sim_random_uniform(&random) * 0.6;
            wishes[i] = (struct budget_wish){.wanted_ns = 1 + (int64_t)(share * period_ns), .period_ns = (int64_t)period_ns};
        }
        const int result = budget_sum_grant(wishes, count, 0.6, MS);
        results[result == -ENOSPC ? 2 : result]++;
        ck_assert_double_le(granted(wishes, count), 0.6 + 1e-9);
        for (int i = 0; i < count && result >= 0; i++) {
            ck_assert_int_le(wishes[i].granted_ns, wishes[i].wanted_ns);
            ck_assert_int_ge(wishes[i].granted_ns, wishes[i].wanted_ns < MS ? wishes[i].wanted_ns : MS);
            if (!result)
                ck_assert_int_eq(wishes[i].granted_ns, wishes[i].wanted_ns);
        }
        if (result == 1)
            ck_assert_double_ge(granted(wishes, count), 0.6 - 1e-5);
    }
    ck_assert_int_gt(results[0], 100);
    ck_assert_int_gt(results[1], 100);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        wishes_that_fit_are_granted_in_full,
        too_many_large_wishes_get_equal_parts_of_a_cpu,
        small_wish_is_granted_in_full_beside_a_large_one,
        least_budget_is_paid_by_the_others,
        less_than_the_least_budget_stays_as_it_is,
        least_budgets_that_do_not_fit_are_an_error,
        no_wishes_are_no_error,
        grants_use_the_bound_and_no_more,
        NULL,
    };
    return suite_run("budget_sum", SUITE_TIMEOUT_DEFAULT, tests);
}
