/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Budgets of one thread. Not covered: sensors, and what the kernel makes of a changed reservation. */
#include "budget.h"

#include "sim_random.h"
#include "suite.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)

static const int64_t period_ns = 40 * MS;
static const struct budget_sample nothing_happened = {.is_exhausted = false};
static const struct budget_sample exhausted = {.is_exhausted = true};

static struct budget budget_with(enum budget_rule rule, int64_t first_ns)
{
    struct budget_options options = budget_defaults;
    struct budget budget;
    options.rule = rule;
    budget_init(&budget, &options, period_ns, first_ns);
    return budget;
}

static void add_periods(struct budget *budget, int periods, int64_t cpu_ns)
{
    for (int i = 0; i < periods; i++)
        budget_add_period(budget, cpu_ns);
}

START_TEST(first_budget_is_above_what_was_used)
{
    int64_t cpu_ns[100];
    for (int i = 0; i < 100; i++)
        cpu_ns[i] = i < 97 ? 3 * MS : 9 * MS;
    ck_assert_int_eq(budget_first_ns(cpu_ns, 100, period_ns), 3900 * US);
    ck_assert_int_eq(budget_first_ns(cpu_ns, 0, period_ns), 500 * US);
    cpu_ns[0] = 39 * MS;
    ck_assert_int_eq(budget_first_ns(cpu_ns, 1, period_ns), 38 * MS);
}
END_TEST

START_TEST(budget_begins_within_its_bounds)
{
    ck_assert_int_eq(budget_with(BUDGET_LFSG, 0).budget_ns, 500 * US);
    ck_assert_int_eq(budget_with(BUDGET_LFSG, 40 * MS).budget_ns, 38 * MS);
    ck_assert_int_eq(budget_with(BUDGET_LFSG, 5 * MS).budget_ns, 5 * MS);
}
END_TEST

START_TEST(percentile_ignores_rare_periods_and_max_does_not)
{
    struct budget percentile = budget_with(BUDGET_PERCENTILE, 10 * MS), max = budget_with(BUDGET_MAX, 10 * MS);
    add_periods(&percentile, 61, 4 * MS);
    add_periods(&percentile, 3, 12 * MS);
    add_periods(&max, 61, 4 * MS);
    add_periods(&max, 3, 12 * MS);
    ck_assert(budget_update(&percentile, 0, &nothing_happened));
    ck_assert_int_eq(percentile.budget_ns, 4400 * US);
    ck_assert(budget_update(&max, 0, &nothing_happened));
    ck_assert_int_eq(max.budget_ns, 13200 * US);
}
END_TEST

START_TEST(only_the_last_64_periods_count)
{
    struct budget budget = budget_with(BUDGET_MAX, 20 * MS);
    add_periods(&budget, 1, 30 * MS);
    add_periods(&budget, 64, 10 * MS);
    ck_assert(budget_update(&budget, 0, &nothing_happened));
    ck_assert_int_eq(budget.budget_ns, 11 * MS);
}
END_TEST

START_TEST(few_periods_change_nothing)
{
    struct budget budget = budget_with(BUDGET_PERCENTILE, 10 * MS);
    add_periods(&budget, 7, 2 * MS);
    ck_assert(!budget_update(&budget, 0, &nothing_happened));
    add_periods(&budget, 1, 2 * MS);
    ck_assert(budget_update(&budget, 0, &nothing_happened));
    ck_assert_int_eq(budget.budget_ns, 2200 * US);
}
END_TEST

START_TEST(small_differences_change_nothing)
{
    struct budget budget = budget_with(BUDGET_PERCENTILE, 11 * MS);
    add_periods(&budget, 64, 9100 * US); /* 10.01 ms wanted: 0.91 of the budget */
    ck_assert(!budget_update(&budget, 0, &nothing_happened));
    add_periods(&budget, 64, 10150 * US); /* 11.165 ms: 1.015 of it */
    ck_assert(!budget_update(&budget, 0, &nothing_happened));
    add_periods(&budget, 64, 8900 * US); /* 9.79 ms: 0.89 of it */
    ck_assert(budget_update(&budget, 0, &nothing_happened));
    ck_assert_int_eq(budget.budget_ns, 9790 * US);
}
END_TEST

START_TEST(exhausted_budget_rises_by_at_least_30_percent_if_more_was_used)
{
    struct budget budget = budget_with(BUDGET_PERCENTILE, 10 * MS);
    add_periods(&budget, 64, 10 * MS); /* 11 ms wanted */
    ck_assert(budget_update(&budget, 0, &exhausted));
    ck_assert_int_eq(budget.budget_ns, 13 * MS);
    ck_assert(budget_update(&budget, 500 * MS, &nothing_happened));
    ck_assert_int_eq(budget.budget_ns, 11 * MS);
    add_periods(&budget, 64, 20 * MS);
    ck_assert(budget_update(&budget, 1000 * MS, &exhausted));
    ck_assert_int_eq(budget.budget_ns, 22 * MS);
}
END_TEST

START_TEST(changes_are_half_a_second_apart)
{
    struct budget budget = budget_with(BUDGET_LFSG, 10 * MS);
    ck_assert(budget_update(&budget, 1000 * MS, &exhausted));
    ck_assert(!budget_update(&budget, 1499 * MS, &exhausted));
    ck_assert(budget_update(&budget, 1500 * MS, &exhausted));
}
END_TEST

/* At 40 ms beta is 0.25 ms. */
START_TEST(lfsg_grows_by_alpha_and_falls_by_beta)
{
    struct budget budget = budget_with(BUDGET_LFSG, 4 * MS);
    ck_assert(budget_update(&budget, 0, &exhausted));
    ck_assert_int_eq(budget.budget_ns, 4600 * US);
    ck_assert(budget_update(&budget, 500 * MS, &nothing_happened));
    ck_assert_int_eq(budget.budget_ns, 4350 * US);
    for (int i = 2; i < 100; i++)
        budget_update(&budget, i * 500 * MS, &nothing_happened);
    ck_assert_int_eq(budget.budget_ns, 500 * US);
    for (int i = 100; i < 200; i++)
        budget_update(&budget, i * 500 * MS, &exhausted);
    ck_assert_int_eq(budget.budget_ns, 38 * MS);
}
END_TEST

/* Under Linux the deadline is at most a period away, and the seed's own sensor sees nothing. */
START_TEST(lfs_looks_at_the_scheduling_error_only)
{
    struct budget budget = budget_with(BUDGET_LFS, 4 * MS);
    ck_assert(budget_update(&budget, 0, &(struct budget_sample){.scheduling_error_ns = 40 * MS + 1}));
    ck_assert_int_eq(budget.budget_ns, 4600 * US);
    ck_assert(budget_update(&budget, 500 * MS, &(struct budget_sample){.is_exhausted = true, .scheduling_error_ns = 40 * MS}));
    ck_assert_int_eq(budget.budget_ns, 4350 * US);
}
END_TEST

START_TEST(pause_keeps_the_budget)
{
    const struct budget_sample pause = {.is_paused = true};
    struct budget lfsg = budget_with(BUDGET_LFSG, 4 * MS), percentile = budget_with(BUDGET_PERCENTILE, 4 * MS);
    add_periods(&percentile, 64, 1 * MS);
    ck_assert(!budget_update(&lfsg, 0, &pause));
    ck_assert(!budget_update(&percentile, 0, &pause));
    ck_assert_int_eq(lfsg.budget_ns, 4 * MS);
    ck_assert_int_eq(percentile.budget_ns, 4 * MS);
}
END_TEST

START_TEST(exhausted_budget_does_not_fall)
{
    struct budget budget = budget_with(BUDGET_PERCENTILE, 10 * MS);
    add_periods(&budget, 64, 2 * MS);
    ck_assert(!budget_update(&budget, 0, &exhausted));
    ck_assert(budget_update(&budget, 500 * MS, &nothing_happened));
}
END_TEST

START_TEST(changed_period_keeps_the_share_and_forgets_the_past)
{
    struct budget budget = budget_with(BUDGET_PERCENTILE, 10 * MS);
    add_periods(&budget, 64, 30 * MS);
    budget_set_period(&budget, 20 * MS);
    ck_assert_int_eq(budget.budget_ns, 5 * MS);
    ck_assert(!budget_update(&budget, 0, &nothing_happened));
    ck_assert_int_eq(budget.budget_ns, 5 * MS);
}
END_TEST

/*
 * A thread that needs more than its budget uses the budget, and needs the rest in the next period. Each rule for Linux must
 * find a budget that is enough, from below, and not lose it again.
 */
static int64_t settle(struct budget *budget, int64_t need_ns, struct sim_random *random)
{
    int64_t backlog_ns = 0, most_ns = 0;
    for (int sample = 0; sample < 120; sample++) {
        struct budget_sample seen = {.is_exhausted = false};
        for (int period = 0; period < 12; period++) {
            backlog_ns += need_ns * 9 / 10 + (int64_t)(sim_random_uniform(random) * (double)need_ns / 5);
            const int64_t used_ns = backlog_ns < budget->budget_ns ? backlog_ns : budget->budget_ns;
            seen.is_exhausted = seen.is_exhausted || used_ns == budget->budget_ns;
            backlog_ns -= used_ns;
            budget_add_period(budget, used_ns);
        }
        budget_update(budget, sample * 500 * MS, &seen);
        if (sample >= 60 && backlog_ns > most_ns)
            most_ns = backlog_ns;
    }
    return most_ns;
}

START_TEST(every_rule_for_linux_finds_what_a_thread_needs)
{
    static const enum budget_rule rules[] = {BUDGET_PERCENTILE, BUDGET_MAX, BUDGET_LFSG};
    for (int rule = 0; rule < 3; rule++) {
        for (uint64_t seed = 1; seed <= 20; seed++) {
            struct sim_random random;
            sim_random_init(&random, seed);
            struct budget budget = budget_with(rules[rule], 2 * MS);
            const int64_t backlog_ns = settle(&budget, 10 * MS, &random);
            ck_assert_msg(backlog_ns < 20 * MS, "rule %d is %d ms behind", rule, (int)(backlog_ns / MS));
            ck_assert_int_ge(budget.budget_ns, 9 * MS);
            ck_assert_int_le(budget.budget_ns, 14 * MS);
        }
    }
}
END_TEST

/* The seed's server (section III.A): an exhausted budget is recharged at once, and the deadline is postponed. */
struct soft_server {
    int64_t left_ns;
    int64_t deadline_ns;
};

static void soft_server_activate(struct soft_server *server, const struct budget *budget, int64_t now_ns)
{
    const double kept_ns = (double)(server->deadline_ns - now_ns) * (double)budget->budget_ns / (double)budget->period_ns;
    if ((double)server->left_ns < kept_ns)
        return;
    *server = (struct soft_server){.left_ns = budget->budget_ns, .deadline_ns = now_ns + budget->period_ns};
}

static void soft_server_run(struct soft_server *server, const struct budget *budget, int64_t cpu_ns)
{
    while (cpu_ns >= server->left_ns) {
        cpu_ns -= server->left_ns;
        server->left_ns = budget->budget_ns;
        server->deadline_ns += budget->period_ns;
    }
    server->left_ns -= cpu_ns;
}

/* With the seed's server the seed's sensor works: a job that needs more than Q postpones the deadline by more than a period. */
START_TEST(lfs_finds_what_a_thread_needs_under_the_seeds_server)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct sim_random random;
        sim_random_init(&random, seed);
        struct budget budget = budget_with(BUDGET_LFS, 8 * MS);
        struct soft_server server = {.deadline_ns = 0};
        int64_t now_ns = 0;
        for (int period = 0; period < 13 * 150; period++, now_ns += period_ns) {
            soft_server_activate(&server, &budget, now_ns);
            soft_server_run(&server, &budget, 9 * MS + (int64_t)(sim_random_uniform(&random) * (double)(2 * MS)));
            if (period % 13)
                continue;
            const int64_t sampled_ns = now_ns + period_ns / 2;
            const struct budget_sample sample = {.scheduling_error_ns = server.deadline_ns - sampled_ns};
            budget_update(&budget, sampled_ns, &sample);
        }
        ck_assert_int_ge(budget.budget_ns, 9 * MS);
        ck_assert_int_le(budget.budget_ns, 14 * MS);
    }
}
END_TEST

START_TEST(observed_periods_replace_earlier_ones)
{
    struct budget budget = budget_with(BUDGET_PERCENTILE, 20 * MS), fed = budget;
    int64_t cpu_ns[100];
    for (int i = 0; i < 100; i++)
        cpu_ns[i] = (i < 40 ? 30 : 5) * MS;
    add_periods(&budget, 64, 35 * MS);
    budget_observe(&budget, cpu_ns, 100);
    for (int i = 0; i < 100; i++)
        budget_add_period(&fed, cpu_ns[i]);
    ck_assert(budget_update(&budget, 0, &nothing_happened));
    ck_assert(budget_update(&fed, 0, &nothing_happened));
    ck_assert_int_eq(budget.budget_ns, 33 * MS); /* 4 of the last 64 periods are long ones, more than 5 % */
    ck_assert_int_eq(budget.budget_ns, fed.budget_ns);
    budget_observe(&budget, cpu_ns, 0);
    ck_assert(!budget_update(&budget, 1000 * MS, &nothing_happened));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        first_budget_is_above_what_was_used,
        budget_begins_within_its_bounds,
        percentile_ignores_rare_periods_and_max_does_not,
        only_the_last_64_periods_count,
        few_periods_change_nothing,
        small_differences_change_nothing,
        exhausted_budget_rises_by_at_least_30_percent_if_more_was_used,
        changes_are_half_a_second_apart,
        lfsg_grows_by_alpha_and_falls_by_beta,
        lfs_looks_at_the_scheduling_error_only,
        pause_keeps_the_budget,
        exhausted_budget_does_not_fall,
        changed_period_keeps_the_share_and_forgets_the_past,
        observed_periods_replace_earlier_ones,
        every_rule_for_linux_finds_what_a_thread_needs,
        lfs_finds_what_a_thread_needs_under_the_seeds_server,
        NULL,
    };
    return suite_run("budget", SUITE_TIMEOUT_DEFAULT, tests);
}
