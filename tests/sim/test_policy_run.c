/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Films played under the player's policies: that the decisions of player/decide reach the simulated player. Not covered: the
 * decisions themselves (tests/player/test_policy.c).
 */
#include "loss_windows.h"
#include "made_up_film.h"
#include "policy_run.h"
#include "sim_run.h"

#include <math.h>
#include <string.h>

#include "suite.h"

enum { PICTURES_MAX = 512 };

static struct frame_record rows[PICTURES_MAX];

static struct policy_outcome play(const struct made_up_film *made, const struct cpu_rate *rate, int64_t queue,
                                  const struct policy_settings *policy)
{
    const struct cpu_supply supply = cpu_supply_part(rate);
    struct playing_setting setting = made_up_setting(made, &supply);
    setting.queue = queue;
    setting.policy = *policy;
    return policy_run(&setting, rows);
}

static const struct policy_settings none = {.drop = DROP_NONE, .base_ns = -1, .gain = -1};
static const struct policy_settings plan = {.drop = DROP_DEADLINE, .rule = RULE_PLAN, .base_ns = -1, .gain = -1};

START_TEST(every_policy_shows_everything_where_time_suffices)
{
    struct made_up_film made;
    struct cpu_rate rate;
    made_up_film_init(&made, made_up_groups(6, 12), 10 * MS);
    ck_assert_int_eq(cpu_rate_constant(&rate, 1), 0);
    for (enum drop_policy drop = DROP_NONE; drop <= DROP_DEADLINE; drop++) {
        for (enum deadline_rule rule = RULE_PAPER; rule <= RULE_PLAN; rule++) {
            const struct policy_settings policy = {.drop = drop, .rule = rule, .base_ns = -1, .gain = -1};
            for (int64_t queue = drop == DROP_VLC ? 8 : 0; queue <= 8; queue += 8)
                ck_assert_int_eq(play(&made, &rate, queue, &policy).tally.shown, 6 * 25);
        }
    }
    cpu_rate_finish(&rate);
    made_up_film_finish(&made);
}
END_TEST

START_TEST(none_falls_behind_and_drops_nothing)
{
    struct made_up_film made;
    struct cpu_rate rate;
    made_up_film_init(&made, made_up_groups(6, 12), 47 * MS); /* with presenting: 50 ms of 40 */
    ck_assert_int_eq(cpu_rate_constant(&rate, 1), 0);
    ck_assert_int_eq(play(&made, &rate, 0, &none).tally.shown, 150);
    ck_assert_int_gt(rows[149].skew_ns, 140 * 10 * MS);
    cpu_rate_finish(&rate);
    made_up_film_finish(&made);
}
END_TEST

/* 30 % of all decodes must go, and half of the pictures are droppable. */
START_TEST(plan_refuses_droppable_pictures_and_stays_in_time)
{
    struct made_up_film made;
    struct cpu_rate rate;
    made_up_film_init(&made, made_up_groups(6, 12), 50 * MS);
    ck_assert_int_eq(cpu_rate_constant(&rate, 1), 0);
    const struct policy_outcome outcome = play(&made, &rate, 8, &plan);
    ck_assert_int_gt(outcome.tally.skipped, 150 / 5);
    ck_assert_int_lt(outcome.tally.skipped, 150 / 2);
    ck_assert_int_eq(outcome.tally.aborted + outcome.tally.late, 0);
    for (int place = 0; place < 150; place++) {
        ck_assert(rows[place].verdict == VERDICT_SHOWN || rows[place].droppable);
        if (rows[place].verdict == VERDICT_SHOWN && place > 20)
            ck_assert_int_le(rows[place].skew_ns, 10 * MS);
    }
    cpu_rate_finish(&rate);
    made_up_film_finish(&made);
}
END_TEST

/* An eighth of all decodes must go. Every other droppable picture may. */
START_TEST(plan_keeps_its_window)
{
    struct made_up_film made;
    struct cpu_rate rate;
    made_up_film_init(&made, made_up_groups(6, 12), 42 * MS);
    ck_assert_int_eq(cpu_rate_constant(&rate, 1), 0);
    struct policy_settings within = plan;
    within.window = (struct window){1, 4};
    play(&made, &rate, 8, &plan);
    ck_assert_int_gt(loss_windows_of(&within.window, rows, 150).violations_sliding, 3);
    const struct policy_outcome outcome = play(&made, &rate, 8, &within);
    ck_assert_int_eq(loss_windows_of(&within.window, rows, 150).violations_sliding, 0);
    ck_assert_int_gt(outcome.tally.skipped, 150 / 10);
    ck_assert_int_eq(outcome.tally.aborted + outcome.tally.late, 0);
    cpu_rate_finish(&rate);
    made_up_film_finish(&made);
}
END_TEST

/* Sizes tell costs. Without the queue, a hard stretch would be late, and rule plan would refuse some of it. */
START_TEST(plan_knows_what_the_queue_saves)
{
    struct made_up_film made;
    struct cpu_rate rate;
    made_up_film_init(&made, made_up_groups(6, 12), 10 * MS);
    for (int packet = 0; packet < made.film.count; packet++) {
        made.film.cost_ns[packet] = packet < 60 || packet >= 68 ? (5 + packet % 11) * MS : 60 * MS;
        made.film.packets[packet].size_bytes = made.film.cost_ns[packet] / 1000;
    }
    ck_assert_int_eq(cpu_rate_constant(&rate, 1), 0);
    ck_assert_int_eq(play(&made, &rate, 16, &plan).tally.shown, 150);
    ck_assert_int_lt(play(&made, &rate, 0, &plan).tally.shown, 150);
    cpu_rate_finish(&rate);
    made_up_film_finish(&made);
}
END_TEST

START_TEST(plan_skips_to_key_pictures_where_nothing_is_droppable)
{
    struct made_up_film made;
    struct cpu_rate rate;
    made_up_film_init(&made, made_up_references(6, 24), 60 * MS);
    ck_assert_int_eq(cpu_rate_constant(&rate, 1), 0);
    struct policy_settings never = plan;
    never.never_skips_to_key = true;
    const struct policy_outcome goes_on = play(&made, &rate, 8, &never);
    ck_assert_int_eq(goes_on.tally.skipped, 0);
    const struct policy_outcome skips = play(&made, &rate, 8, &plan);
    ck_assert_int_gt(skips.tally.skipped, 20);
    ck_assert_int_lt(skips.tally.skipped + skips.tally.late, goes_on.tally.late);
    for (int place = 25; place < 150; place += 25) {
        ck_assert_int_ne(rows[place].decode_start_ns, FIELD_EMPTY); /* a key picture is never passed over … */
        ck_assert_int_eq(rows[place].decode_cpu_ns, 60 * MS);
    }
    for (int place = 1; place < 150; place++) /* … and behind a passed one everything is, up to it */
        if (rows[place - 1].verdict == VERDICT_SKIPPED && place % 25)
            ck_assert_int_eq(rows[place].verdict, VERDICT_SKIPPED);
    cpu_rate_finish(&rate);
    made_up_film_finish(&made);
}
END_TEST

START_TEST(leading_pictures_behind_a_skip_are_passed_over)
{
    struct made_up_film made;
    struct cpu_rate rate;
    char types[] = "IPPPPPPPPPPPPPPPPPPPPPPPPPIbPbPPPPPPPPPPPPPPPPPPPPPPPPIbPbPP";
    made_up_film_init(&made, types, 80 * MS);
    ck_assert_int_eq(cpu_rate_constant(&rate, 1), 0);
    play(&made, &rate, 8, &plan);
    const int key = made.film.place_of[26];
    ck_assert_int_eq(rows[key - 2].verdict, VERDICT_SKIPPED); /* so it skipped to this key picture */
    ck_assert_int_eq(rows[key - 1].verdict, VERDICT_SKIPPED);
    ck_assert_int_eq(rows[key - 1].decode_start_ns, FIELD_EMPTY);
    ck_assert_int_eq(rows[key].decode_cpu_ns, 80 * MS);
    cpu_rate_finish(&rate);
    made_up_film_finish(&made);
}
END_TEST

START_TEST(deadline_ends_a_decode_and_its_time_is_wasted)
{
    struct made_up_film made;
    struct cpu_rate rate;
    made_up_film_init(&made, made_up_groups(2, 12), 10 * MS);
    made.film.cost_ns[24] = 300 * MS; /* droppable */
    ck_assert_int_eq(cpu_rate_constant(&rate, 1), 0);
    const struct policy_settings slack = {.drop = DROP_DEADLINE, .rule = RULE_SLACK, .base_ns = -1, .gain = -1};
    const struct policy_outcome outcome = play(&made, &rate, 0, &slack);
    const struct frame_record *const row = &rows[made.film.place_of[24]];
    ck_assert_int_eq(outcome.tally.aborted, 1);
    ck_assert_int_eq(row->verdict, VERDICT_ABORTED);
    ck_assert_int_eq(row->decode_end_ns, row->deadline_ns);
    ck_assert_int_eq(outcome.wasted_cpu_ns, row->decode_cpu_ns);
    ck_assert_int_eq(row->decode_cpu_ns, row->decode_end_ns - row->decode_start_ns);
    cpu_rate_finish(&rate);
    made_up_film_finish(&made);
}
END_TEST

START_TEST(costs_that_follow_sizes_are_predicted)
{
    struct made_up_film made;
    struct cpu_rate rate;
    made_up_film_init(&made, made_up_groups(8, 12), 0);
    for (int packet = 0; packet < made.film.count; packet++) {
        made.film.packets[packet].size_bytes = 5000 + 4000 * (packet % 5) + 100 * (packet % 7);
        made.film.cost_ns[packet] = MS + 300 * made.film.packets[packet].size_bytes;
    }
    ck_assert_int_eq(cpu_rate_constant(&rate, 1), 0);
    const struct prediction prediction = play(&made, &rate, 8, &plan).prediction;
    ck_assert_int_eq(prediction.count, 200 - 30);
    ck_assert_double_lt(prediction_mape(&prediction), 0.02);
    ck_assert_double_gt(prediction_r2(&prediction), 0.98);
    const struct prediction nothing = {0};
    ck_assert(isnan(prediction_mape(&nothing)));
    cpu_rate_finish(&rate);
    made_up_film_finish(&made);
}
END_TEST

static struct sim_options options_for(enum sim_supply supply)
{
    struct sim_options options = sim_options_parse(2, (char *[]){"dlex-bench-sim", "trace.csv", NULL});
    options.supply = supply;
    options.demand = 1.1;
    options.idle_ns = 500 * MS;
    options.part = 0.4;
    return options;
}

START_TEST(figures_agree_with_each_other_under_every_supply)
{
    struct made_up_film made;
    made_up_film_init(&made, made_up_groups(8, 12), 10 * MS);
    for (enum sim_supply supply = SIM_SUPPLY_RESERVATION; supply <= SIM_SUPPLY_PART; supply++) {
        const struct sim_options options = options_for(supply);
        struct sim_figures figures;
        ck_assert_int_eq(sim_run(&figures, &options, &made.film, 3, rows), 0);
        const struct quality *const quality = &figures.quality;
        ck_assert_int_eq(quality->frames, 200);
        ck_assert_int_gt(quality->dropped, 0);
        ck_assert_int_eq(quality->dropped, quality->aborted + quality->skipped + quality->late);
        ck_assert_double_ge(rmse_q16(quality->rmse_8bit.sum), 100.0 * (double)quality->dropped - 1e-3);
        ck_assert_double_ge(figures.skew_ms_abs_mean, fabs(quality->skew_ms.mean) - 1e-9);
        ck_assert_double_ge(quality->longest_freeze_ms, 40.0 * (double)quality->longest_drop_run);
    }
    made_up_film_finish(&made);
}
END_TEST

START_TEST(same_seed_gives_the_same_run_and_another_does_not)
{
    struct made_up_film made;
    made_up_film_init(&made, made_up_groups(8, 12), 10 * MS);
    const struct sim_options options = options_for(SIM_SUPPLY_QUOTA);
    static struct frame_record again[PICTURES_MAX];
    struct sim_figures figures;
    ck_assert_int_eq(sim_run(&figures, &options, &made.film, 3, rows), 0);
    ck_assert_int_eq(sim_run(&figures, &options, &made.film, 3, again), 0);
    ck_assert_mem_eq(rows, again, 200 * sizeof rows[0]);
    ck_assert_int_eq(sim_run(&figures, &options, &made.film, 4, again), 0);
    ck_assert_mem_ne(rows, again, 200 * sizeof rows[0]);
    made_up_film_finish(&made);
}
END_TEST

START_TEST(demand_sets_the_mean_cost)
{
    struct made_up_film made;
    made_up_film_init(&made, made_up_groups(8, 12), 10 * MS);
    struct sim_options options = options_for(SIM_SUPPLY_QUOTA);
    options.is_alone = true;
    /* 1.1 * 15 ms in each picture's 40, of which presenting has 2.9. */
    ck_assert_double_eq_tol(sim_scale(&options, &made.film) * 10, 1.1 * 15 - 2.9, 1e-6);
    struct sim_options bursts = options_for(SIM_SUPPLY_BURSTS);
    bursts.idle_ns = 300 * MS;
    ck_assert_double_eq_tol(sim_supply_mean(&bursts), 15.0 / 32, 1e-9);
    made_up_film_finish(&made);
}
END_TEST

/* Beside rt-app a period of a quota may give less than its budget, and a wide reservation gives what is left. */
START_TEST(supply_is_what_rtapp_leaves)
{
    struct sim_options options = options_for(SIM_SUPPLY_QUOTA);
    ck_assert_double_lt(sim_supply_mean(&options), 15.0 / 40);
    ck_assert_double_gt(sim_supply_mean(&options), 13.0 / 40);
    options.budget_ns = 40 * MS;
    ck_assert_double_eq_tol(sim_supply_mean(&options), 1 - 0.95 * (3.0 / 8 + 20.0 / 200), 0.01);
    options.supply = SIM_SUPPLY_RESERVATION;
    ck_assert_double_eq_tol(sim_supply_mean(&options), 1 - 0.95 * 3.0 / 8, 0.01);
    options.budget_ns = 15 * MS;
    ck_assert_double_eq_tol(sim_supply_mean(&options), 15.0 / 40, 0.001);
}
END_TEST

/*
 * Up to the hard part there is little time to get ahead. A plan with the longest horizon, 200 packets, would refuse something for the hard
 * part behind them as soon as it sees it.
 */
START_TEST(plan_sees_only_packets_that_were_read)
{
    enum { HARD_FROM = 200, READ_AT_MOST = 126 };
    struct made_up_film made;
    struct cpu_rate rate;
    made_up_film_init(&made, made_up_groups(11, 12), 0);
    for (int packet = 0; packet < made.film.count; packet++) {
        const bool is_hard = packet >= HARD_FROM && made.film.packets[packet].picture_class == CLASS_REFERENCE;
        made.film.cost_ns[packet] = (is_hard ? 120 : packet % 11 + (packet < 20 ? 10 : 30)) * MS;
        made.film.packets[packet].size_bytes = made.film.cost_ns[packet] / 1000;
    }
    ck_assert_int_eq(cpu_rate_constant(&rate, 1), 0);
    play(&made, &rate, 150, &plan);
    int first = 0;
    while (first < made.film.count && rows[made.film.place_of[first]].verdict != VERDICT_SKIPPED)
        first++;
    ck_assert_int_lt(first, HARD_FROM);
    ck_assert_int_ge(first, HARD_FROM - READ_AT_MOST);
    cpu_rate_finish(&rate);
    made_up_film_finish(&made);
}
END_TEST

/*
 * The packets of each eight come in reverse order of presentation, and skips begin in the middle of them. With a short queue it is full of
 * pictures behind one whose packet is still to come.
 */
START_TEST(skips_in_the_middle_of_reordered_packets_end)
{
    enum { COUNT = 200, REORDERED = 8 };
    struct made_up_film made;
    struct cpu_rate rate;
    char types[COUNT + 1] = "";
    for (int i = 0; i < COUNT; i++)
        types[i] = i % 50 ? 'P' : 'I';
    made_up_film_init(&made, types, 200 * MS);
    sim_film_finish(&made.film);
    for (int i = 0; i < COUNT; i++) {
        made.trace.packets[i].pts_ns = (i - 2 * (i % REORDERED) + REORDERED - 1) * FRAME_NS;
        made.trace.packets[i].droppable = i % 50 && i % 3 == 0;
        for (int back = 1; back <= TRACE_REPEATS; back++)
            made.trace.packets[i].repeat_rmse_q16[back - 1] = 100.0 * back;
    }
    ck_assert_int_eq(sim_film_init(&made.film, &made.trace), 0);
    ck_assert_int_eq(cpu_rate_constant(&rate, 1), 0);
    for (int64_t queue = 1; queue <= REORDERED; queue++) {
        const struct playing_tally tally = play(&made, &rate, queue, &plan).tally;
        ck_assert_int_gt(tally.skipped, 0);
        ck_assert_int_eq(tally.shown + tally.aborted + tally.skipped + tally.late, COUNT);
    }
    cpu_rate_finish(&rate);
    made_up_film_finish(&made);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        every_policy_shows_everything_where_time_suffices,
        none_falls_behind_and_drops_nothing,
        plan_refuses_droppable_pictures_and_stays_in_time,
        plan_keeps_its_window,
        plan_knows_what_the_queue_saves,
        plan_skips_to_key_pictures_where_nothing_is_droppable,
        leading_pictures_behind_a_skip_are_passed_over,
        deadline_ends_a_decode_and_its_time_is_wasted,
        costs_that_follow_sizes_are_predicted,
        figures_agree_with_each_other_under_every_supply,
        same_seed_gives_the_same_run_and_another_does_not,
        demand_sets_the_mean_cost,
        supply_is_what_rtapp_leaves,
        plan_sees_only_packets_that_were_read,
        skips_in_the_middle_of_reordered_packets_end,
        NULL,
    };
    return suite_run("policy_run", SUITE_TIMEOUT_DEFAULT, tests);
}
