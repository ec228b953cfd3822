/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Schedulability against a simulation. Not covered: tasks that suspend themselves, which the analysis does not allow. */
#include "response_time.h"

#include <errno.h>
#include <stdbool.h>

#include "fixed_priority_run.h"
#include "rm_levels.h"
#include "sim_random.h"
#include "suite.h"

enum { HYPERPERIOD = 120, TASKS = 6, SETS = 3000 };

static struct rm_task guaranteed(int64_t cost_ns, int64_t period_ns, int level)
{
    return (struct rm_task){.kind = RM_GUARANTEED, .period_ns = period_ns, .deadline_ns = period_ns, .cost_max_ns = cost_ns,
                            .cost_mean_ns = cost_ns, .level = level};
}

static int64_t random_up_to(struct sim_random *random, int64_t most)
{
    return 1 + (int64_t)(sim_random_uniform(random) * (double)most);
}

/* Tasks whose periods divide the hyperperiod; most sets use between half of the CPU and a little too much. */
static int random_tasks(struct rm_task *tasks, struct sim_random *random)
{
    static const int64_t periods_ns[] = {4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 40, 60};
    const int count = (int)random_up_to(random, TASKS);
    for (int i = 0; i < count; i++) {
        const int64_t period_ns = periods_ns[random_up_to(random, 12) - 1];
        const int64_t cost_ns = random_up_to(random, 1 + 2 * period_ns / (count + 1));
        tasks[i] = guaranteed(cost_ns < period_ns ? cost_ns : period_ns, period_ns, i + 1);
        tasks[i].deadline_ns -= (int64_t)(sim_random_uniform(random) * (double)(period_ns - tasks[i].cost_max_ns + 1) / 2);
    }
    return count;
}

START_TEST(textbook_set_has_its_response_times)
{
    const struct rm_task tasks[] = {guaranteed(3, 12, 1), guaranteed(1, 4, 3), guaranteed(2, 6, 2)};
    int64_t response_ns;
    ck_assert_int_eq(response_time(&response_ns, tasks, 3, 1), 0);
    ck_assert_int_eq(response_ns, 1);
    ck_assert_int_eq(response_time(&response_ns, tasks, 3, 2), 0);
    ck_assert_int_eq(response_ns, 3);
    ck_assert_int_eq(response_time(&response_ns, tasks, 3, 0), 0);
    ck_assert_int_eq(response_ns, 10);
}
END_TEST

START_TEST(bound_of_liu_and_layland)
{
    static const double bounds[] = {1, 0.828, 0.780, 0.757};
    for (int n = 1; n <= 4; n++)
        ck_assert_double_eq_tol(response_time_bound(n), bounds[n - 1], 0.0005);
}
END_TEST

/* The order of the levels is arbitrary here: the analysis holds for any. */
START_TEST(analysis_equals_the_simulation_if_all_start_at_once)
{
    struct sim_random random;
    sim_random_init(&random, 1);
    int accepted = 0, refused = 0;
    for (int set = 0; set < SETS; set++) {
        struct rm_task tasks[TASKS];
        int64_t longest_ns[TASKS], response_ns;
        const int count = random_tasks(tasks, &random);
        fixed_priority_run(longest_ns, tasks, NULL, count, 2 * HYPERPERIOD);
        for (int i = 0; i < count; i++) {
            const bool is_in_time = response_time(&response_ns, tasks, count, i) == 0;
            if (is_in_time)
                ck_assert_int_eq(response_ns, longest_ns[i]);
            else
                ck_assert_int_gt(longest_ns[i], tasks[i].deadline_ns);
            accepted += is_in_time;
            refused += !is_in_time;
        }
    }
    ck_assert_int_gt(accepted, SETS / 2);
    ck_assert_int_gt(refused, SETS / 10);
}
END_TEST

/* Levels are drawn from a few, so that many are shared. */
START_TEST(no_offsets_and_no_shared_levels_exceed_the_analysis)
{
    struct sim_random random;
    sim_random_init(&random, 2);
    for (int set = 0; set < SETS; set++) {
        struct rm_task tasks[TASKS];
        int64_t longest_ns[TASKS], offsets_ns[TASKS], response_ns;
        const int count = random_tasks(tasks, &random);
        for (int i = 0; i < count; i++) {
            tasks[i].level = (int)random_up_to(&random, 3);
            offsets_ns[i] = random_up_to(&random, tasks[i].period_ns) - 1;
        }
        fixed_priority_run(longest_ns, tasks, offsets_ns, count, 3 * HYPERPERIOD);
        bool all_in_time = true;
        for (int i = 0; i < count; i++)
            all_in_time = all_in_time && response_time(&response_ns, tasks, count, i) == 0;
        for (int i = 0; i < count && all_in_time; i++) {
            ck_assert_int_eq(response_time(&response_ns, tasks, count, i), 0);
            ck_assert_int_le(longest_ns[i], response_ns);
        }
    }
}
END_TEST

START_TEST(admitted_sets_miss_no_deadline)
{
    struct sim_random random;
    sim_random_init(&random, 3);
    int by_bound = 0, by_analysis = 0;
    for (int set = 0; set < SETS; set++) {
        struct rm_task tasks[TASKS];
        struct rm_placing placing;
        int64_t longest_ns[TASKS];
        enum response_time_test by;
        const int count = random_tasks(tasks, &random);
        for (int i = 0; i < count; i++)
            ck_assert_int_eq(rm_levels_add(&placing, &rm_band_guaranteed, tasks, i + 1, i), 0);
        if (response_time_admit(&by, tasks, count) != 0)
            continue;
        fixed_priority_run(longest_ns, tasks, NULL, count, 2 * HYPERPERIOD);
        for (int i = 0; i < count; i++)
            ck_assert_int_le(longest_ns[i], tasks[i].deadline_ns);
        by_bound += by == RESPONSE_BY_BOUND;
        by_analysis += by == RESPONSE_BY_ANALYSIS;
    }
    ck_assert_int_gt(by_bound, SETS / 100);
    ck_assert_int_gt(by_analysis, SETS / 20);
}
END_TEST

/* The seed's program: 28 ms of 66.6 ms. */
START_TEST(two_of_the_seeds_players_fit_and_three_do_not)
{
    struct rm_task tasks[3];
    enum response_time_test by;
    for (int i = 0; i < 3; i++)
        tasks[i] = guaranteed(28000000, 66666667, 40);
    ck_assert_int_eq(response_time_admit(&by, tasks, 1), 0);
    ck_assert_int_eq(by, RESPONSE_BY_BOUND);
    ck_assert_int_eq(response_time_admit(&by, tasks, 2), 0);
    ck_assert_int_eq(by, RESPONSE_BY_ANALYSIS);
    ck_assert_int_eq(response_time_admit(&by, tasks, 3), -EBUSY);
    ck_assert_int_eq(by, RESPONSE_TOO_MUCH);
}
END_TEST

START_TEST(guaranteed_tasks_need_their_longest_cost)
{
    struct rm_task tasks[] = {guaranteed(30, 60, 2), guaranteed(50, 100, 1)};
    tasks[1].cost_mean_ns = 20;
    enum response_time_test by;
    ck_assert_int_eq(response_time_admit(&by, tasks, 2), -EBUSY); /* 50 + 2 * 30 = 110 > 100 */
    ck_assert_int_eq(by, RESPONSE_TOO_LATE);
    tasks[1].kind = RM_STATISTICAL;
    ck_assert_int_eq(response_time_admit(&by, tasks, 2), 0);
    tasks[1].cost_mean_ns = 51;
    ck_assert_int_eq(response_time_admit(&by, tasks, 2), -EBUSY);
    ck_assert_int_eq(by, RESPONSE_TOO_MUCH);
}
END_TEST

START_TEST(statistical_tasks_do_not_delay_guaranteed_ones)
{
    struct rm_task tasks[] = {guaranteed(30, 60, 40), guaranteed(10, 50, 30)};
    tasks[1].kind = RM_STATISTICAL;
    int64_t response_ns;
    ck_assert_int_eq(response_time(&response_ns, tasks, 2, 0), 0);
    ck_assert_int_eq(response_ns, 30);
}
END_TEST

START_TEST(impossible_values_are_refused)
{
    const struct rm_task fine = guaranteed(10, 50, 1);
    struct rm_task tasks[5] = {fine, fine, fine, fine, fine};
    tasks[0].cost_max_ns = 0;
    tasks[1].cost_max_ns = 51;
    tasks[2].deadline_ns = 51;
    tasks[3].deadline_ns = 9;
    tasks[4].cost_mean_ns = 0;
    for (int i = 0; i < 5; i++) {
        enum response_time_test by;
        ck_assert_msg(response_time_admit(&by, &tasks[i], 1) == -EINVAL, "task %d was accepted", i);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        textbook_set_has_its_response_times,
        bound_of_liu_and_layland,
        analysis_equals_the_simulation_if_all_start_at_once,
        no_offsets_and_no_shared_levels_exceed_the_analysis,
        admitted_sets_miss_no_deadline,
        two_of_the_seeds_players_fit_and_three_do_not,
        guaranteed_tasks_need_their_longest_cost,
        statistical_tasks_do_not_delay_guaranteed_ones,
        impossible_values_are_refused,
        NULL,
    };
    return suite_run("response_time", 60, tests);
}
