/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What rule plan learns from the decodes: costs, the supply of CPU time, what was lost. Times are invented. */
#include "learnt.h"
#include "times.h"

#include <check.h>
#include <math.h>

#include "suite.h"

#define MS INT64_C(1000000)

enum { FRAME_NS = 40 * 1000000 };

static struct learnt learnt;

static void learn(enum picture_class picture_class, int64_t size_bytes, double cost_ms, enum decode_end end)
{
    const struct decode_use use = {
        .picture_class = picture_class,
        .size_bytes = size_bytes,
        .end = end,
        .cpu_ns = (int64_t)(cost_ms * MS),
        .wall_ns = (int64_t)(cost_ms * MS),
    };
    learnt_add(&learnt, &use, FRAME_NS);
}

static double predicted_ms(enum picture_class picture_class, int64_t size_bytes)
{
    return cost_predict_ns(&learnt.costs, picture_class, size_bytes, FRAME_NS) / MS;
}

static void expect_near(double found, double expected, double tolerance)
{
    ck_assert_msg(fabs(found - expected) <= tolerance, "%g instead of %g", found, expected);
}

START_TEST(without_samples_a_fifth_of_a_frame_is_expected)
{
    learnt_init(&learnt);
    expect_near(predicted_ms(CLASS_KEY, 1000), 8, 1e-9);
    learn(CLASS_KEY, 50000, 20, DECODE_WHOLE);
    expect_near(predicted_ms(CLASS_DROPPABLE, 1000), 20, 1e-9); /* nothing is known of this class, but of another */
}
END_TEST

START_TEST(cost_is_a_line_over_the_size)
{
    learnt_init(&learnt);
    for (int i = 0; i < 60; i++) {
        const int64_t size = 2000 + 7 * i % 17 * 1500;
        learn(CLASS_DROPPABLE, size, 2 + (double)size / 5000, DECODE_WHOLE);
    }
    expect_near(predicted_ms(CLASS_DROPPABLE, 10000), 4, 0.05);
    expect_near(predicted_ms(CLASS_DROPPABLE, 20000), 6, 0.05);
}
END_TEST

START_TEST(prediction_stays_near_the_mean_of_its_class)
{
    learnt_init(&learnt);
    for (int i = 0; i < 20; i++)
        learn(CLASS_REFERENCE, 1000 + 10 * i, 5 + i % 3, DECODE_WHOLE);
    const double mean_ms = learnt.costs.lines[CLASS_REFERENCE].mean_ns / MS;
    ck_assert(predicted_ms(CLASS_REFERENCE, 10000000) <= 4 * mean_ms + 1e-9);
    ck_assert(predicted_ms(CLASS_REFERENCE, 0) >= 0.3 * mean_ms - 1e-9);
}
END_TEST

START_TEST(old_costs_are_forgotten)
{
    learnt_init(&learnt);
    for (int i = 0; i < 300; i++)
        learn(CLASS_REFERENCE, 5000 + i % 7 * 100, 5, DECODE_WHOLE);
    for (int i = 0; i < 100; i++)
        learn(CLASS_REFERENCE, 5000 + i % 7 * 100, 10, DECODE_WHOLE);
    expect_near(predicted_ms(CLASS_REFERENCE, 5300), 10, 0.6);
}
END_TEST

/* A fit whose variance grows while sizes do not vary would follow one odd sample anywhere. */
START_TEST(equal_sizes_for_a_long_time_do_not_spoil_the_fit)
{
    learnt_init(&learnt);
    for (int i = 0; i < 40000; i++)
        learn(CLASS_DROPPABLE, 4000, 3, DECODE_WHOLE);
    learn(CLASS_DROPPABLE, 8000, 6, DECODE_WHOLE);
    learn(CLASS_DROPPABLE, 4000, 3, DECODE_WHOLE);
    expect_near(predicted_ms(CLASS_DROPPABLE, 4000), 3, 0.5);
    for (int i = 0; i < PICTURE_CLASSES; i++)
        ck_assert(isfinite(learnt.costs.lines[i].covariance[0][1]));
}
END_TEST

START_TEST(abandoned_decode_raises_an_expectation_that_was_too_low)
{
    learnt_init(&learnt);
    for (int i = 0; i < 5; i++)
        learn(CLASS_DROPPABLE, 4000, 3, DECODE_WHOLE);
    learn(CLASS_DROPPABLE, 4000, 2, DECODE_ABANDONED); /* it would have taken longer: that is no news */
    expect_near(predicted_ms(CLASS_DROPPABLE, 4000), 3, 0.01);
    for (int i = 0; i < 20; i++)
        learn(CLASS_DROPPABLE, 4000, 9, DECODE_ABANDONED);
    expect_near(predicted_ms(CLASS_DROPPABLE, 4000), 9, 1.5);
}
END_TEST

/* Decodes of this class, each by this factor as costly as its size in ms / 1000; every nth one is degraded to 0.8 of that, or none (0). */
static void learn_degraded(int count, int every, double factor)
{
    for (int i = 0; i < count; i++) {
        const int64_t size = 5000 + i * 7 % 11 * 500;
        const bool degraded = every && i % every == 0;
        const struct decode_use use = {
            .picture_class = CLASS_DROPPABLE,
            .size_bytes = size,
            .cpu_ns = (int64_t)((degraded ? 0.8 : 1) * factor * (double)size * 1000),
            .wall_ns = MS,
            .degraded = degraded,
        };
        learnt_add(&learnt, &use, FRAME_NS);
    }
}

static double predicted_degraded_ms(enum picture_class picture_class, int64_t size_bytes)
{
    return cost_degraded_part(&learnt.costs, picture_class) * predicted_ms(picture_class, size_bytes);
}

START_TEST(both_costs_are_learnt_where_some_pictures_are_degraded)
{
    learnt_init(&learnt);
    learn_degraded(400, 3, 1);
    expect_near(predicted_ms(CLASS_DROPPABLE, 8000), 8, 0.1);
    expect_near(predicted_degraded_ms(CLASS_DROPPABLE, 8000), 6.4, 0.1);
    const double reference_ms = predicted_ms(CLASS_REFERENCE, 8000);
    expect_near(predicted_degraded_ms(CLASS_REFERENCE, 8000), 0.9 * reference_ms, 1e-9); /* nothing is known of this class */
}
END_TEST

/* When the film gets cheaper, degrading must end, although no whole decode shows it. */
START_TEST(cost_of_whole_decodes_follows_that_of_degraded_ones)
{
    learnt_init(&learnt);
    learn_degraded(400, 3, 1);
    learn_degraded(200, 1, 0.5);
    expect_near(predicted_degraded_ms(CLASS_DROPPABLE, 8000), 3.2, 0.1);
    expect_near(predicted_ms(CLASS_DROPPABLE, 8000), 4, 0.8);
}
END_TEST

START_TEST(degraded_decode_is_never_expected_to_cost_more_and_is_tried_again)
{
    learnt_init(&learnt);
    for (int i = 0; i < 20; i++) {
        learn_degraded(10, 0, 1);
        learn_degraded(1, 1, 2);
    }
    ck_assert_double_eq(predicted_degraded_ms(CLASS_DROPPABLE, 8000), predicted_ms(CLASS_DROPPABLE, 8000));
    learn_degraded(2000, 0, 1);
    expect_near(predicted_degraded_ms(CLASS_DROPPABLE, 8000), 7.2, 0.2);
}
END_TEST

START_TEST(refused_packets_teach_what_a_refusal_costs)
{
    learnt_init(&learnt);
    for (int i = 0; i < 200; i++)
        learn(CLASS_DROPPABLE, 4000, 0.5, DECODE_REFUSED);
    expect_near(learnt.refusing_ns / MS, 0.5, 0.01);
    ck_assert_int_eq(learnt.costs.count, 0);
}
END_TEST

START_TEST(refused_pictures_are_counted_until_one_is_tried)
{
    learnt_init(&learnt);
    learn(CLASS_DROPPABLE, 4000, 1, DECODE_REFUSED);
    learn(CLASS_REFERENCE, 4000, 9, DECODE_WHOLE);
    learn(CLASS_DROPPABLE, 4000, 1, DECODE_REFUSED);
    learn(CLASS_DROPPABLE, 4000, 1, DECODE_UNKNOWN);
    ck_assert_int_eq(learnt.droppable_refused, 2);
    learn(CLASS_DROPPABLE, 4000, 1, DECODE_ABANDONED);
    ck_assert_int_eq(learnt.droppable_refused, 0);
    learn(CLASS_DROPPABLE, 4000, 1, DECODE_REFUSED);
    learn(CLASS_DROPPABLE, 4000, 1, DECODE_WHOLE);
    ck_assert_int_eq(learnt.droppable_refused, 0);
}
END_TEST

START_TEST(supply_is_the_cpu_time_received_in_the_last_second)
{
    struct supply supply;
    supply_init(&supply);
    expect_near(supply_rate(&supply), 0.5, 1e-9);
    for (int i = 0; i < 200; i++)
        supply_learn(&supply, 40 * MS, 10 * MS);
    expect_near(supply_rate(&supply), 0.25, 1e-3);
    for (int i = 0; i < 200; i++)
        supply_learn(&supply, 40 * MS, 40 * MS);
    expect_near(supply_rate(&supply), 1, 1e-3);
}
END_TEST

START_TEST(supply_stays_in_its_range)
{
    struct supply supply;
    supply_init(&supply);
    supply_learn(&supply, 0, 10 * MS); /* no time at all: not a sample */
    expect_near(supply_rate(&supply), 0.5, 1e-9);
    supply_learn(&supply, 100000 * MS, 0); /* the program was stopped */
    expect_near(supply_rate(&supply), 0.05, 1e-9);
    for (int i = 0; i < 40; i++)
        supply_learn(&supply, 20 * MS, 20 * MS);
    ck_assert(supply_rate(&supply) > 0.3); /* and that does not last */
    supply_learn(&supply, 1000 * MS, 100000 * MS);
    expect_near(supply_rate(&supply), 2, 1e-9); /* decoding and presenting on two CPUs */
}
END_TEST

START_TEST(several_threads_may_receive_several_cpus)
{
    struct supply supply;
    supply_init(&supply);
    supply_set_threads(&supply, 4);
    for (int i = 0; i < 400; i++)
        supply_learn(&supply, 10 * MS, 35 * MS);
    expect_near(supply_rate(&supply), 3.5, 1e-2);
    supply_learn(&supply, 1000 * MS, 100000 * MS);
    expect_near(supply_rate(&supply), 5, 1e-9); /* and one that presents */
}
END_TEST

START_TEST(decodes_that_overlap_say_what_they_cost_and_nothing_of_the_supply)
{
    learnt_init(&learnt);
    const struct decode_use use = {.picture_class = CLASS_REFERENCE, .size_bytes = 1000, .end = DECODE_WHOLE,
                                   .cpu_ns = 30 * MS, .wall_ns = 30 * MS, .overlapped = true};
    for (int i = 0; i < 50; i++)
        learnt_add(&learnt, &use, FRAME_NS);
    expect_near(predicted_ms(CLASS_REFERENCE, 1000), 30, 0.1);
    expect_near(supply_rate(&learnt.supply), 0.5, 1e-9);
    for (int i = 0; i < 200; i++)
        learnt_add_supply(&learnt, 10 * MS, 15 * MS);
    expect_near(learnt_wall_ns(&learnt, 30 * MS) / MS, 20, 0.1);
}
END_TEST

START_TEST(times_are_kept_in_order)
{
    static struct times times;
    for (int i = 0; i < 10; i++)
        times_insert(&times, 7 * i % 10);
    times_insert(&times, 3);
    for (int i = 1; i < times.count; i++)
        ck_assert_int_le(times.at_ns[i - 1], times.at_ns[i]);
    times_remove(&times, 3);
    times_remove(&times, 100); /* there is none */
    ck_assert_int_eq(times.count, 10);
    ck_assert_int_eq(times_take_first(&times), 0);
    ck_assert_int_eq(times.at_ns[2], 3);
}
END_TEST

START_TEST(full_list_forgets_its_earliest_time)
{
    static struct times times;
    for (int i = 0; i < TIMES_MAX + 5; i++)
        times_insert(&times, i);
    ck_assert_int_eq(times.count, TIMES_MAX);
    ck_assert_int_eq(times.at_ns[0], 5);
    ck_assert_int_eq(times.at_ns[TIMES_MAX - 1], TIMES_MAX + 4);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        without_samples_a_fifth_of_a_frame_is_expected,
        cost_is_a_line_over_the_size,
        prediction_stays_near_the_mean_of_its_class,
        old_costs_are_forgotten,
        equal_sizes_for_a_long_time_do_not_spoil_the_fit,
        abandoned_decode_raises_an_expectation_that_was_too_low,
        both_costs_are_learnt_where_some_pictures_are_degraded,
        cost_of_whole_decodes_follows_that_of_degraded_ones,
        degraded_decode_is_never_expected_to_cost_more_and_is_tried_again,
        refused_packets_teach_what_a_refusal_costs,
        refused_pictures_are_counted_until_one_is_tried,
        supply_is_the_cpu_time_received_in_the_last_second,
        supply_stays_in_its_range,
        several_threads_may_receive_several_cpus,
        decodes_that_overlap_say_what_they_cost_and_nothing_of_the_supply,
        times_are_kept_in_order,
        full_list_forgets_its_earliest_time,
        NULL,
    };
    return suite_run("costs and supply", SUITE_TIMEOUT_DEFAULT, tests);
}
