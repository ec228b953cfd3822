/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The supply bound against all possible schedules of small reservations, and Figure 2 of seed 003. */
#include "supply_bound.h"

#include "suite.h"

enum { PERIOD_MAX = 9, TIME_MAX = 40 };

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/*
 * One step of the dynamic programme below: least[given] is the least supply of all schedules that have given so much in the present
 * period, -1 if there is none. The budget must still fit into the `left` steps after this one.
 */
static void advance(int64_t *least, int64_t budget, int64_t left)
{
    for (int64_t given = budget; given >= 0; given--) {
        const int64_t idle = least[given], run = given && least[given - 1] >= 0 ? least[given - 1] + 1 : -1;
        if (budget - given > left)
            least[given] = -1;
        else if (idle < 0 || run < 0)
            least[given] = idle < 0 ? run : idle;
        else
            least[given] = smaller(idle, run);
    }
}

/* The least supply by t of every schedule that gives `budget` steps in each period. */
static int64_t least_supply(int64_t budget, int64_t period, int64_t t)
{
    int64_t least[PERIOD_MAX + 1] = {0};
    for (int64_t given = 1; given <= budget; given++)
        least[given] = -1;
    for (int64_t step = 0; step < t; step++) {
        const int64_t left = period - step % period - 1;
        advance(least, budget, left);
        if (left)
            continue;
        least[0] = least[budget]; /* a period ends with the whole budget given */
        for (int64_t given = 1; given <= budget; given++)
            least[given] = -1;
    }
    int64_t supply = INT64_MAX;
    for (int64_t given = 0; given <= budget; given++)
        if (least[given] >= 0)
            supply = smaller(supply, least[given]);
    return supply;
}

START_TEST(bound_is_the_least_supply_of_all_schedules)
{
    for (int64_t period = 1; period <= PERIOD_MAX; period++)
        for (int64_t budget = 1; budget <= period; budget++)
            for (int64_t t = 0; t <= TIME_MAX; t++)
                ck_assert_msg(supply_bound_ns(budget, period, t) == least_supply(budget, period, t),
                              "Q %d, T %d, t %d: %d, not %d", (int)budget, (int)period, (int)t,
                              (int)supply_bound_ns(budget, period, t), (int)least_supply(budget, period, t));
}
END_TEST

/* Equation 1 as printed, except at t = hT, where it is not what the text says. */
START_TEST(bound_is_equation_1)
{
    const int64_t budget = 30, period = 100;
    for (int64_t t = 1; t < 500; t++) {
        const int64_t h = t / period;
        if (t == h * period)
            continue;
        const int64_t printed = t <= (h + 1) * period - budget ? h * budget : t - (h + 1) * (period - budget);
        ck_assert_int_eq(supply_bound_ns(budget, period, t), printed);
    }
    ck_assert_int_eq(supply_bound_ns(budget, period, 0), 0);
    ck_assert_int_eq(supply_bound_ns(budget, period, 100), 30);
}
END_TEST

START_TEST(budget_is_the_smallest_that_is_enough)
{
    for (int64_t server = 1; server <= PERIOD_MAX; server++)
        for (int64_t task = 1; task <= TIME_MAX; task++)
            for (int64_t cost = 1; cost <= task; cost++) {
                const int64_t budget = supply_bound_budget_ns(cost, task, server);
                ck_assert_int_ge(budget, 1);
                ck_assert_int_le(budget, server);
                ck_assert_int_ge(least_supply(budget, server, task), cost);
                ck_assert(budget == 1 || least_supply(budget - 1, server, task) < cost);
            }
}
END_TEST

START_TEST(cost_beyond_the_period_has_no_budget)
{
    ck_assert_int_eq(supply_bound_budget_ns(101, 100, 10), -1);
    ck_assert_int_eq(supply_bound_budget_ns(100, 100, 10), 10);
    ck_assert_int_eq(supply_bound_budget_ns(0, 100, 30), 0);
}
END_TEST

/* P = 100 ms, C = 20 ms: bandwidth in tenths of a per cent for each server period. */
START_TEST(figure_2_of_the_seed)
{
    static const int rows[][2] = {
        {10, 200}, {20, 200}, {25, 200}, {30, 222}, {40, 250}, {45, 222}, {50, 200}, {55, 273}, {60, 333},
        {70, 286}, {80, 250}, {90, 222}, {100, 200}, {110, 273}, {150, 467}, {200, 600},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const int64_t budget_ns = supply_bound_budget_ns(20000000, 100000000, rows[i][0] * INT64_C(1000000));
        ck_assert_double_eq_tol((double)budget_ns / (rows[i][0] * 1e3), rows[i][1], 0.5);
    }
}
END_TEST

/* The seed's claims about Figure 2: more than half is wasted at worst below P, and without bound above it. */
START_TEST(claims_about_figure_2)
{
    double worst = 0;
    for (int64_t server_ms = 5; server_ms <= 100; server_ms++) {
        const int64_t budget_ns = supply_bound_budget_ns(20000000, 100000000, server_ms * 1000000);
        const double share = (double)budget_ns / (double)(server_ms * 1000000);
        ck_assert_double_ge(share, 0.2 - 1e-6);
        if (100 % server_ms == 0)
            ck_assert_double_eq_tol(share, 0.2, 1e-6);
        worst = share > worst ? share : worst;
    }
    ck_assert_double_gt(worst, 1.5 * 0.2);
    ck_assert_double_gt((double)supply_bound_budget_ns(20000000, 100000000, 1000000000) / 1e9, 0.9);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        bound_is_the_least_supply_of_all_schedules,
        bound_is_equation_1,
        budget_is_the_smallest_that_is_enough,
        cost_beyond_the_period_has_no_budget,
        figure_2_of_the_seed,
        claims_about_figure_2,
        NULL,
    };
    return suite_run("supply_bound", 60, tests);
}
