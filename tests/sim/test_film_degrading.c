/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Films played with rule plan and without some loop filters. Not covered: when the plan leaves them out (tests/player/test_degrading.c).
 */
#include "made_up_film.h"
#include "policy_run.h"
#include "sim_run.h"

#include <check.h>

#include "suite.h"

enum { PICTURES_MAX = 512 };

static struct frame_record rows[PICTURES_MAX];

static struct policy_outcome play_degrading(const struct made_up_film *made, const struct cpu_rate *rate, bool degrades, double part)
{
    const struct cpu_supply supply = cpu_supply_part(rate);
    struct playing_setting setting = made_up_setting(made, &supply);
    setting.queue = 8;
    setting.policy = (struct policy_settings){.drop = DROP_DEADLINE, .rule = RULE_PLAN, .base_ns = -1, .gain = -1};
    setting.policy.degrades = degrades;
    setting.degraded = (struct degraded_decode){.part = part, .rmse_q16 = 20};
    return policy_run(&setting, rows);
}

/* Counts from the second group on: at the beginning everything is late. */
static int count_degraded(const struct made_up_film *made, enum degraded degraded, enum picture_class picture_class)
{
    int count = 0;
    for (int place = 25; place < made->film.count; place++)
        count += rows[place].degraded == degraded &&
                 made->film.packets[made->film.packet_at[place]].picture_class == picture_class;
    return count;
}

START_TEST(degrading_droppable_pictures_saves_some_of_them)
{
    struct made_up_film made;
    struct cpu_rate rate;
    made_up_film_init(&made, made_up_groups(6, 12), 45 * MS);
    ck_assert_int_eq(cpu_rate_constant(&rate, 1), 0);
    const int whole = play_degrading(&made, &rate, false, 0.8).tally.skipped;
    ck_assert_int_eq(count_degraded(&made, DEGRADED_NOT, CLASS_DROPPABLE), 5 * 12);
    const int degraded = play_degrading(&made, &rate, true, 0.8).tally.skipped;
    ck_assert_int_gt(whole, 10);
    ck_assert_int_le(degraded, whole - 4);
    ck_assert_int_gt(count_degraded(&made, DEGRADED_ITSELF, CLASS_DROPPABLE), 20);
    ck_assert_int_eq(count_degraded(&made, DEGRADED_ITSELF, CLASS_REFERENCE), 0); /* droppable pictures help */
    ck_assert_int_eq(count_degraded(&made, DEGRADED_BY_OTHERS, CLASS_REFERENCE), 0);
    ck_assert_int_eq(play_degrading(&made, &rate, true, 0).tally.skipped, whole); /* the decoder cannot */
    cpu_rate_finish(&rate);
    made_up_film_finish(&made);
}
END_TEST

START_TEST(stream_without_droppable_pictures_is_degraded_to_the_next_key_picture)
{
    struct made_up_film made;
    struct cpu_rate rate;
    made_up_film_init(&made, made_up_references(6, 24), 42 * MS);
    ck_assert_int_eq(cpu_rate_constant(&rate, 1), 0);
    const struct playing_tally whole = play_degrading(&made, &rate, false, 0.8).tally;
    const struct playing_tally degraded = play_degrading(&made, &rate, true, 0.8).tally;
    ck_assert_int_gt(whole.late + whole.skipped, 0);
    ck_assert_int_eq(degraded.late + degraded.skipped, 0);
    for (int place = 1; place < 150; place++) /* it goes on up to a key picture */
        if (rows[place - 1].degraded == DEGRADED_ITSELF && place % 25)
            ck_assert_int_eq(rows[place].degraded, DEGRADED_ITSELF);
    ck_assert_int_gt(count_degraded(&made, DEGRADED_NOT, CLASS_REFERENCE), 0); /* and not longer than needed */
    cpu_rate_finish(&rate);
    made_up_film_finish(&made);
}
END_TEST

START_TEST(errors_of_degraded_pictures_are_in_the_sum)
{
    struct made_up_film made;
    made_up_film_init(&made, made_up_groups(8, 12), 10 * MS);
    struct sim_options options = sim_options_parse(2, (char *[]){"dlex-bench-sim", "trace.csv", NULL});
    options.demand = 1.1;
    options.playing.policy.degrades = true;
    options.playing.degraded.rmse_q16 = 0;
    struct sim_figures free_of_charge, figures;
    ck_assert_int_eq(sim_run(&free_of_charge, &options, &made.film, 3, rows), 0);
    options.playing.degraded.rmse_q16 = 30;
    ck_assert_int_eq(sim_run(&figures, &options, &made.film, 3, rows), 0);
    const int64_t changed = figures.quality.degraded + figures.quality.drifted;
    ck_assert_int_gt(figures.quality.degraded, 0);
    const double added = rmse_q16(figures.quality.rmse_sum_8bit - free_of_charge.quality.rmse_sum_8bit);
    ck_assert_double_eq_tol(added, 30.0 * (double)changed, 1e-6);
    made_up_film_finish(&made);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        degrading_droppable_pictures_saves_some_of_them,
        stream_without_droppable_pictures_is_degraded_to_the_next_key_picture,
        errors_of_degraded_pictures_are_in_the_sum,
        NULL,
    };
    return suite_run("film_degrading", SUITE_TIMEOUT_DEFAULT, tests);
}
