/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The seed's Figure 4, slot by slot, and the players of the simulator. The figure itself is lost; its schedules follow from
 * the rules, and agree with every sentence that the seed says about them. Not covered: the experiments (test_dwcs_paper.c).
 */
#include "slot_sim.h"

#include <errno.h>

#include "suite.h"

#define MS INT64_C(1000000)
#define SLOT (10 * MS)

enum { T1, T2, BEST_EFFORT }; /* indexes of tasks */

static const struct dwcs_server_options server = {.base_ns = SLOT};

/* Tasks T1 (1/2) and T2 (1/4) of the seed's Table 2, with C = 1. */
static void set_up(struct slot_sim *sim, int period_1, int period_2, bool is_work_conserving, unsigned rules)
{
    slot_sim_init(sim, SLOT, 1);
    sim->rules = rules;
    const struct dwcs_params params[] = {
        {.period_ns = period_1 * SLOT, .service_ns = SLOT, .x = 1, .y = 2, .is_work_conserving = is_work_conserving},
        {.period_ns = period_2 * SLOT, .service_ns = SLOT, .x = 1, .y = 4, .is_work_conserving = is_work_conserving},
    };
    ck_assert_int_eq(slot_sim_add(sim, &params[0], NULL), T1);
    ck_assert_int_eq(slot_sim_add(sim, &params[1], NULL), T2);
}

static void add_best_effort(struct slot_sim *sim)
{
    ck_assert_int_eq(slot_sim_add(sim, NULL, NULL), BEST_EFFORT);
}

/* Steps and compares: one character a slot, 1, 2, B for best effort, - for idle. */
static void expect_schedule(struct slot_sim *sim, const char *expected)
{
    char actual[32];
    int slots = 0;
    for (; expected[slots]; slots++) {
        const int task = slot_sim_step(sim);
        actual[slots] = task == SLOT_IDLE ? '-' : "12B"[task];
    }
    actual[slots] = 0;
    ck_assert_str_eq(actual, expected);
    ck_assert_int_eq(sim->now_ns, slots * SLOT);
}

START_TEST(figure_4_a_rule_2)
{
    struct slot_sim sim;
    set_up(&sim, 4, 2, false, EVENT_RULE_1 | EVENT_RULE_2);
    add_best_effort(&sim);
    expect_schedule(&sim, "212B212B");

    set_up(&sim, 4, 2, false, EVENT_RULE_1 | EVENT_RULE_2);
    add_best_effort(&sim);
    slot_sim_raise(&sim, T1, 25 * MS);
    expect_schedule(&sim, "2121212B");
    ck_assert_int_eq(sim.swaps, 1);
}
END_TEST

START_TEST(figure_4_b_rule_3)
{
    struct slot_sim sim;
    set_up(&sim, 4, 2, true, EVENT_RULE_1 | EVENT_RULE_3);
    expect_schedule(&sim, "21222122");

    set_up(&sim, 4, 2, true, EVENT_RULE_1 | EVENT_RULE_3);
    slot_sim_raise(&sim, T1, 25 * MS);
    expect_schedule(&sim, "21212122");
    ck_assert_int_eq(sim.swaps, 1);
}
END_TEST

/* The seed says that Figure 4(b) is like 4(a) as long as a process has not been served in its period, so this is not its rule. */
START_TEST(figure_4_b_is_another_one_if_processes_keep_their_rank)
{
    struct slot_sim sim;
    set_up(&sim, 4, 2, true, EVENT_RULE_1 | EVENT_RULE_3);
    for (int i = T1; i <= T2; i++)
        sim.dwcs.process[sim.task[i].process].params.keeps_rank = true;
    expect_schedule(&sim, "2221");
}
END_TEST

START_TEST(figure_4_c_rule_4)
{
    struct slot_sim sim;
    set_up(&sim, 3, 3, true, EVENT_RULE_1 | EVENT_RULE_4);
    expect_schedule(&sim, "21221");

    set_up(&sim, 3, 3, true, EVENT_RULE_1 | EVENT_RULE_4);
    slot_sim_raise(&sim, T1, 25 * MS);
    expect_schedule(&sim, "21212");
    ck_assert_int_eq(sim.swaps, 1);
}
END_TEST

START_TEST(figure_4_d_rule_5)
{
    struct slot_sim sim;
    set_up(&sim, 3, 3, true, EVENT_RULE_1 | EVENT_RULE_5);
    add_best_effort(&sim);
    sim.server = &server;
    expect_schedule(&sim, "B21BB2B21");

    set_up(&sim, 3, 3, true, EVENT_RULE_1 | EVENT_RULE_5);
    add_best_effort(&sim);
    sim.server = &server;
    slot_sim_raise(&sim, T1, 45 * MS);
    expect_schedule(&sim, "B21BB212B");
    ck_assert_int_eq(sim.swaps, 1);
}
END_TEST

START_TEST(event_without_its_rule_changes_nothing)
{
    struct slot_sim sim;
    set_up(&sim, 4, 2, false, EVENT_RULE_1 | EVENT_RULE_3 | EVENT_RULE_4 | EVENT_RULE_5);
    add_best_effort(&sim);
    slot_sim_raise(&sim, T1, 25 * MS);
    expect_schedule(&sim, "212B212B");
    ck_assert_int_eq(sim.swaps, 0);
    ck_assert_int_eq(sim.delivered, 1);
}
END_TEST

static const struct dwcs_params of_player = {
    .period_ns = 100 * MS, .service_ns = SLOT, .x = 1, .y = 5, .is_work_conserving = true,
};

static struct slot_player player_of(int64_t first_ns, int64_t cost_ns)
{
    return (struct slot_player){.first_ns = first_ns, .sleep_ns = 100 * MS, .cost_min_ns = cost_ns, .cost_max_ns = cost_ns};
}

START_TEST(player_alone_begins_its_frames_in_time)
{
    struct slot_sim sim;
    slot_sim_init(&sim, SLOT, 1);
    sim.rules = EVENT_RULE_1;
    const struct slot_player player = player_of(25 * MS, 5 * MS);
    ck_assert_int_eq(slot_sim_add(&sim, &of_player, &player), 0);
    slot_sim_run(&sim, 1000 * MS);
    ck_assert_int_eq(sim.task[0].frames, 9); /* at 30, 140, 250 and so on: a timer wakes at the beginning of a slot */
    ck_assert_int_eq(sim.task[0].began_ns, 910 * MS);
    ck_assert_int_eq(sim.task[0].delay_max_ns, 0);
    ck_assert_int_eq(sim.task[0].finished, 9);
    ck_assert_int_eq(sim.task[0].response_sum_ns, 9 * 5 * MS);
    ck_assert_int_eq(sim.delivered, 9);
    ck_assert_int_eq(sim.swaps, 0);
    ck_assert_int_eq(sim.lost, 0);
}
END_TEST

/* The second frame waits for the first. From then on the players do not meet, since each sleeps from its own end. */
START_TEST(player_waits_for_another_and_goes_on_from_there)
{
    int64_t delays_ns[3] = {-1, -1, -1};
    struct slot_sim sim;
    slot_sim_init(&sim, SLOT, 1);
    sim.trace_ns = delays_ns;
    sim.trace_capacity = 3;
    sim.traced_task = 1;
    const struct slot_player player = player_of(0, SLOT);
    slot_sim_add(&sim, &of_player, &player);
    slot_sim_add(&sim, &of_player, &player);
    slot_sim_run(&sim, 1000 * MS);
    ck_assert_int_eq(sim.task[0].delay_sum_ns, 0);
    ck_assert_int_eq(sim.task[1].delay_sum_ns, SLOT);
    ck_assert_int_eq(sim.task[1].frames, 9); /* at 10, 120 and so on, up to 890 */
    ck_assert_int_eq(sim.task[1].response_sum_ns, 10 * SLOT);
    ck_assert_int_eq(delays_ns[0], SLOT);
    ck_assert_int_eq(delays_ns[1], 0);
    ck_assert_int_eq(delays_ns[2], 0);
}
END_TEST

START_TEST(late_player_sleeps_as_long_as_any_other)
{
    struct slot_sim sim;
    slot_sim_init(&sim, SLOT, 1);
    const struct slot_player player = player_of(0, 150 * MS);
    slot_sim_add(&sim, &of_player, &player);
    slot_sim_run(&sim, 900 * MS);
    ck_assert_int_eq(sim.task[0].frames, 4); /* at 0, 250, 500 and 750 */
    ck_assert_int_eq(sim.task[0].began_ns, 750 * MS);
    ck_assert_int_eq(sim.task[0].ready_ns, 1000 * MS);
    ck_assert_int_eq(sim.task[0].delay_sum_ns, 0);
    ck_assert_int_eq(sim.task[0].response_sum_ns, 4 * 150 * MS);
}
END_TEST

START_TEST(rest_of_a_slot_is_for_others)
{
    struct slot_sim sim;
    slot_sim_init(&sim, SLOT, 1);
    const struct slot_player player = player_of(0, 4 * MS);
    slot_sim_add(&sim, &of_player, &player);
    slot_sim_add(&sim, NULL, NULL);
    ck_assert_int_eq(slot_sim_step(&sim), 0);
    ck_assert_int_eq(sim.now_ns, 4 * MS);
    ck_assert_int_eq(slot_sim_step(&sim), 1);
    ck_assert_int_eq(sim.now_ns, 10 * MS);
}
END_TEST

START_TEST(costs_are_within_their_bounds_and_depend_on_the_seed)
{
    const struct slot_player player = {.sleep_ns = SLOT, .cost_min_ns = 100 * MS, .cost_max_ns = 101 * MS};
    int64_t sum_ns[2] = {0};
    for (int i = 0; i < 2; i++) {
        struct slot_sim sim;
        slot_sim_init(&sim, SLOT, (uint64_t)i);
        slot_sim_add(&sim, &of_player, &player);
        while (sim.task[0].finished < 1000)
            slot_sim_step(&sim);
        sum_ns[i] = sim.task[0].response_sum_ns; /* it never waits */
        ck_assert_int_gt(sum_ns[i], 1000 * 100 * MS + 400 * MS);
        ck_assert_int_lt(sum_ns[i], 1000 * 100 * MS + 600 * MS);
    }
    ck_assert_int_ne(sum_ns[0], sum_ns[1]);
}
END_TEST

START_TEST(wrong_players_are_refused)
{
    const struct slot_player wrong[] = {
        {.sleep_ns = SLOT},
        {.sleep_ns = SLOT, .cost_min_ns = 2, .cost_max_ns = 1},
        {.sleep_ns = 0, .cost_min_ns = 1, .cost_max_ns = 1},
        {.first_ns = -1, .sleep_ns = SLOT, .cost_min_ns = 1, .cost_max_ns = 1},
    };
    struct slot_sim sim;
    slot_sim_init(&sim, SLOT, 1);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ck_assert_int_eq(slot_sim_add(&sim, &of_player, &wrong[i]), -EINVAL);
    for (int i = 0; i < SLOT_TASKS; i++)
        ck_assert_int_eq(slot_sim_add(&sim, NULL, NULL), i);
    ck_assert_int_eq(slot_sim_add(&sim, NULL, NULL), -ENOSPC);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        figure_4_a_rule_2,
        figure_4_b_rule_3,
        figure_4_b_is_another_one_if_processes_keep_their_rank,
        figure_4_c_rule_4,
        figure_4_d_rule_5,
        event_without_its_rule_changes_nothing,
        player_alone_begins_its_frames_in_time,
        player_waits_for_another_and_goes_on_from_there,
        late_player_sleeps_as_long_as_any_other,
        rest_of_a_slot_is_for_others,
        costs_are_within_their_bounds_and_depend_on_the_seed,
        wrong_players_are_refused,
        NULL,
    };
    return suite_run("slot_sim", SUITE_TIMEOUT_DEFAULT, tests);
}
