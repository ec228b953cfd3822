/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How schedulers give CPU time in virtual time. Not covered: how near this is to the kernel, which the laboratory measures. */
#include "cpu_supply.h"

#include <stdlib.h>

#include "suite.h"

#define MS INT64_C(1000000)

static struct cpu_rate constant(double part)
{
    struct cpu_rate rate;
    ck_assert_int_eq(cpu_rate_constant(&rate, part), 0);
    return rate;
}

/* Runs until it has this CPU time, and returns how long that took. */
static int64_t takes_ns(struct cpu_supply *supply, int64_t from_ns, int64_t cpu_ns)
{
    int64_t now_ns = from_ns;
    ck_assert_int_eq(cpu_supply_run(supply, &now_ns, cpu_ns, INT64_MAX), cpu_ns);
    return now_ns - from_ns;
}

START_TEST(half_a_cpu_takes_twice_as_long)
{
    struct cpu_rate rate = constant(0.5);
    struct cpu_supply supply = cpu_supply_part(&rate);
    ck_assert_int_eq(takes_ns(&supply, 0, 10 * MS), 20 * MS);
    cpu_rate_finish(&rate);
}
END_TEST

START_TEST(run_ends_in_time_with_what_it_got)
{
    struct cpu_rate rate = constant(0.5);
    struct cpu_supply supply = cpu_supply_part(&rate);
    int64_t now_ns = 100 * MS;
    ck_assert_int_eq(cpu_supply_run(&supply, &now_ns, 10 * MS, 108 * MS), 4 * MS);
    ck_assert_int_eq(now_ns, 108 * MS);
    cpu_rate_finish(&rate);
}
END_TEST

START_TEST(reservation_gives_its_budget_in_each_period)
{
    struct cpu_rate rate = constant(1);
    struct cpu_supply supply = cpu_supply_reservation(&rate, 15 * MS, 40 * MS);
    ck_assert_int_eq(takes_ns(&supply, 3 * MS, 15 * MS), 15 * MS);
    ck_assert_int_eq(takes_ns(&supply, 18 * MS, 1 * MS), 26 * MS);
    ck_assert_int_eq(takes_ns(&supply, 44 * MS, 29 * MS), 54 * MS);
    cpu_rate_finish(&rate);
}
END_TEST

START_TEST(reservation_that_wakes_up_late_keeps_no_old_deadline)
{
    struct cpu_rate rate = constant(1);
    struct cpu_supply supply = cpu_supply_reservation(&rate, 15 * MS, 40 * MS);
    takes_ns(&supply, 0, 1 * MS);
    /* 14 ms left for 5 ms until the deadline at 40: too much, so a new period begins, with 15 ms until 75. */
    ck_assert_int_eq(takes_ns(&supply, 35 * MS, 16 * MS), 75 * MS - 35 * MS + 1 * MS);
    cpu_rate_finish(&rate);
}
END_TEST

START_TEST(reservation_that_wakes_up_early_keeps_its_deadline)
{
    struct cpu_rate rate = constant(1);
    struct cpu_supply supply = cpu_supply_reservation(&rate, 15 * MS, 40 * MS);
    takes_ns(&supply, 0, 14 * MS);
    /* 1 ms left for 20 ms until the deadline at 40: that is within its bandwidth. */
    ck_assert_int_eq(takes_ns(&supply, 20 * MS, 2 * MS), 21 * MS);
    cpu_rate_finish(&rate);
}
END_TEST

START_TEST(quota_counts_its_periods_from_its_phase)
{
    struct cpu_rate rate = constant(1);
    struct cpu_supply supply = cpu_supply_quota(&rate, 15 * MS, 40 * MS, 10 * MS);
    ck_assert_int_eq(takes_ns(&supply, 0, 20 * MS), 20 * MS); /* 10 ms of the period that ends at 10, and 10 of the next */
    ck_assert_int_eq(takes_ns(&supply, 20 * MS, 6 * MS), 31 * MS); /* 5 more until 25, then 1 from 50 on */
    cpu_rate_finish(&rate);
}
END_TEST

START_TEST(unused_quota_is_lost)
{
    struct cpu_rate rate = constant(1);
    struct cpu_supply supply = cpu_supply_quota(&rate, 15 * MS, 40 * MS, 0);
    takes_ns(&supply, 0, 1 * MS);
    ck_assert_int_eq(takes_ns(&supply, 39 * MS, 16 * MS), 16 * MS);
    ck_assert_int_eq(takes_ns(&supply, 55 * MS, 1 * MS), 26 * MS);
    cpu_rate_finish(&rate);
}
END_TEST

static double mean_beside_rtapp(enum rtapp_tasks tasks, uint64_t seed)
{
    struct sim_random random;
    struct cpu_rate rate;
    sim_random_init(&random, seed);
    ck_assert_int_eq(cpu_rate_beside_rtapp(&rate, tasks, 20000 * MS, &random), 0);
    const double mean = cpu_rate_mean(&rate, 20000 * MS);
    cpu_rate_finish(&rate);
    return mean;
}

START_TEST(rtapp_takes_what_its_tasks_need)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const double beside_short = mean_beside_rtapp(RTAPP_SHORT, seed);
        const double beside_both = mean_beside_rtapp(RTAPP_BOTH, seed);
        ck_assert_double_ge(beside_short, 1 - 3.0 / 8 - 0.001);
        ck_assert_double_le(beside_short, 1 - 0.9 * 3.0 / 8 + 0.001);
        ck_assert_double_le(beside_both, beside_short - 0.9 * 0.1);
        ck_assert_double_ge(beside_both, beside_short - 0.1 - 0.002);
    }
}
END_TEST

START_TEST(bursts_leave_a_fair_share)
{
    struct sim_random random;
    struct cpu_rate rate;
    sim_random_init(&random, 1);
    ck_assert_int_eq(cpu_rate_beside_bursts(&rate, 300 * MS, 600000 * MS, &random), 0);
    for (int64_t i = 0; i < rate.count; i++)
        ck_assert(rate.steps[i].part == 1 || rate.steps[i].part == 1.0 / 2 || rate.steps[i].part == 1.0 / 3 ||
                  rate.steps[i].part == 1.0 / 4);
    /* Each is busy half of the time: 1/8 + 3/8 / 2 + 3/8 / 3 + 1/8 / 4. */
    ck_assert_double_eq_tol(cpu_rate_mean(&rate, 600000 * MS), 15.0 / 32, 0.02);
    cpu_rate_finish(&rate);
}
END_TEST

/* A thread that works and sleeps at random never gets more than the bound, from any time on. */
static void expect_bound(struct cpu_supply supply, struct sim_random *random)
{
    int64_t now_ns = 0;
    for (int i = 0; i < 200; i++) {
        now_ns += (int64_t)(sim_random_uniform(random) * (double)(30 * MS));
        const int64_t from_ns = now_ns;
        const int64_t until_ns = from_ns + 1 + (int64_t)(sim_random_uniform(random) * (double)(200 * MS));
        const int64_t at_most_ns = cpu_supply_at_most(&supply, from_ns, until_ns);
        ck_assert_int_le(cpu_supply_run(&supply, &now_ns, 1000 * MS, until_ns), at_most_ns);
    }
}

START_TEST(no_use_gets_more_than_the_bound)
{
    struct sim_random random;
    sim_random_init(&random, 5);
    for (int round = 0; round < 20; round++) {
        struct cpu_rate rate;
        ck_assert_int_eq(cpu_rate_beside_rtapp(&rate, RTAPP_BOTH, 60000 * MS, &random), 0);
        expect_bound(cpu_supply_part(&rate), &random);
        expect_bound(cpu_supply_reservation(&rate, 15 * MS, 40 * MS), &random);
        expect_bound(cpu_supply_quota(&rate, 15 * MS, 40 * MS, 17 * MS), &random);
        cpu_rate_finish(&rate);
    }
}
END_TEST

/* A player that falls behind goes on after the end of the rate. It would wait for ever for a task that keeps the CPU. */
START_TEST(rtapps_tasks_end_with_the_rate)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct sim_random random;
        struct cpu_rate rate;
        sim_random_init(&random, seed);
        ck_assert_int_eq(cpu_rate_beside_rtapp(&rate, seed % 2 ? RTAPP_BOTH : RTAPP_SHORT, 1000 * MS, &random), 0);
        ck_assert_double_eq(rate.steps[rate.count - 1].part, 1);
        for (int64_t i = 1; i < rate.count; i++)
            ck_assert_int_lt(rate.steps[i - 1].from_ns, rate.steps[i].from_ns);
        struct cpu_supply supply = cpu_supply_quota(&rate, 15 * MS, 40 * MS, 0);
        int64_t now_ns = 2000 * MS;
        ck_assert_int_eq(cpu_supply_run(&supply, &now_ns, INT64_MAX, 6000 * MS), 1500 * MS);
        cpu_rate_finish(&rate);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        half_a_cpu_takes_twice_as_long,
        run_ends_in_time_with_what_it_got,
        reservation_gives_its_budget_in_each_period,
        reservation_that_wakes_up_late_keeps_no_old_deadline,
        reservation_that_wakes_up_early_keeps_its_deadline,
        quota_counts_its_periods_from_its_phase,
        unused_quota_is_lost,
        rtapp_takes_what_its_tasks_need,
        rtapps_tasks_end_with_the_rate,
        bursts_leave_a_fair_share,
        no_use_gets_more_than_the_bound,
        NULL,
    };
    return suite_run("cpu_supply", SUITE_TIMEOUT_DEFAULT, tests);
}
