/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When rule plan leaves out loop filters: what the plan finds for a packet, and what the policy makes of that for those that follow.
 * Not covered: what the decoder does with it (tests/gate/test_degraded.c), and whether it pays (docs/figures.md).
 */
#include "ns.h"
#include "plan.h"
#include "policy_decode.h"

#include <check.h>

#include "made_up_plan.h"
#include "suite.h"

#define MS INT64_C(1000000)

/* From now on, pictures may be degraded, and that halves what they cost. */
static void allow_degrading(void)
{
    terms.may_degrade = true;
    for (int of = 0; of < PICTURE_CLASSES; of++)
        learnt.costs.degraded_part[of] = 0.5;
}

START_TEST(droppable_picture_is_degraded_before_it_is_refused)
{
    packets(25, "d28 R5 d5 R5"); /* 15 ms for the first one */
    ck_assert_int_eq(step(), PLAN_REFUSED);
    allow_degrading();
    ck_assert_int_eq(step(), PLAN_DEGRADED);
    outlook.count = 0;
    packets(25, "d40 R5 d5 R5"); /* that does not help it */
    ck_assert_int_eq(step(), PLAN_REFUSED);
    outlook.count = 0;
    packets(25, "d10 R5 d5 R5"); /* and nothing is needed */
    ck_assert_int_eq(step(), PLAN_WHOLE);
}
END_TEST

/* Degrading the two droppable pictures gives 31 ms. */
START_TEST(all_droppable_pictures_are_degraded_before_one_is_refused)
{
    allow_degrading();
    packets(80, "d31 d31 R20 R60 R80 R70"); /* 22 ms are missing */
    ck_assert_int_eq(step(), PLAN_DEGRADED);
    outlook.count = 0;
    packets(80, "d31 d31 R20 R60 R80 R95"); /* 47 ms */
    ck_assert_int_eq(step(), PLAN_REFUSED);
}
END_TEST

START_TEST(references_are_degraded_when_nothing_droppable_helps)
{
    allow_degrading();
    packets(100, "R20 d90 R90"); /* they end at 200, and the last is due at 180 - 10 ms: degrading the droppable one helps … */
    ck_assert_int_eq(step(), PLAN_WHOLE);
    outlook.count = 0;
    packets(60, "R20 d90 R90"); /* … giving it up helps … */
    ck_assert_int_eq(step(), PLAN_WHOLE);
    outlook.count = 0;
    packets(35, "R20 d90 R90"); /* … and here neither does */
    ck_assert_int_eq(step(), PLAN_DEGRADED_TO_KEY);
    terms.may_degrade = false;
    ck_assert_int_eq(step(), PLAN_WHOLE);
}
END_TEST

START_TEST(stream_without_droppable_pictures_is_degraded)
{
    packets(40, "R35 R35 R35");
    ck_assert_int_eq(step(), PLAN_WHOLE);
    allow_degrading();
    ck_assert_int_eq(step(), PLAN_DEGRADED_TO_KEY);
    outlook.count = 0;
    packets(40, "R25 R35 R35");
    ck_assert_int_eq(step(), PLAN_WHOLE);
}
END_TEST

/* The decoder waits for room before the second packet, so what the first one would save is lost. */
START_TEST(references_before_a_wait_are_not_degraded_for_what_comes_after_it)
{
    allow_degrading();
    fill_queue();
    packets(480, "R20 R5 R90");
    ck_assert_int_eq(step(), PLAN_WHOLE);
    outlook.count = 0;
    packets(480, "R60 R70");
    ck_assert_int_eq(step(), PLAN_DEGRADED_TO_KEY);
}
END_TEST

START_TEST(packets_before_the_next_key_picture_are_expected_to_be_degraded)
{
    allow_degrading();
    terms.degrades_to_key = true;
    packets(25, "d28 R60 R5"); /* they end at 14, 44 and 47 */
    ck_assert_int_eq(step(), PLAN_WHOLE);
    outlook.count = 0;
    packets(25, "d10 K52 R5"); /* at 5 and 57, and the key picture is due at 65 - 10 ms */
    ck_assert_int_eq(step(), PLAN_REFUSED);
    terms.degrades_to_key = false;
    outlook.count = 0;
    packets(25, "d28 R60 R5");
    ck_assert_int_ne(step(), PLAN_WHOLE);
}
END_TEST

START_TEST(pictures_are_not_degraded_where_that_saves_nothing)
{
    allow_degrading();
    for (int of = 0; of < PICTURE_CLASSES; of++)
        learnt.costs.degraded_part[of] = 0.99;
    packets(25, "d28 R5 d5 R5");
    ck_assert_int_eq(step(), PLAN_REFUSED);
    outlook.count = 0;
    packets(40, "R35 R35 R35");
    ck_assert_int_eq(step(), PLAN_WHOLE);
}
END_TEST

/* 37 ms are missing. Degrading both droppable pictures gives 31, and giving up one of them the rest. */
START_TEST(degraded_picture_is_kept_where_its_loss_is_one_too_many)
{
    allow_degrading();
    packets(80, "d31 d31 R20 R60 R80 R85");
    ck_assert_int_eq(step(), PLAN_REFUSED);
    struct loss_history past = {0};
    loss_history_add(&past, &(struct past_picture){-1, (80 - FRAME_MS) * NS_PER_MS, true});
    outlook.past = &past;
    ck_assert_int_eq(step(), PLAN_REFUSED);
    terms.window = (struct window){1, 2};
    ck_assert_int_eq(step(), PLAN_DEGRADED);
}
END_TEST

/*
 * With all three degraded, 31 ms are missing for the fifth packet and 56 for the sixth. The second one saves most for its loss, but
 * then neither neighbour may be lost; the first and the third one save enough together.
 */
START_TEST(window_is_kept_by_degrading_some_and_refusing_others)
{
    allow_degrading();
    packets(120, "d60 d80 d62 R100 R100 R65");
    ck_assert_int_eq(step(), PLAN_DEGRADED);
    terms.window = (struct window){1, 2};
    ck_assert_int_eq(step(), PLAN_REFUSED);
}
END_TEST

/* No picture may be lost, but the first reference can be degraded with all that follow. */
START_TEST(references_are_degraded_with_a_window)
{
    allow_degrading();
    terms.window = (struct window){0, 5};
    packets(35, "R20 d90 R90");
    ck_assert_int_eq(step(), PLAN_DEGRADED_TO_KEY);
    outlook.count = 0;
    packets(25, "d40 R5 d5 R5"); /* too late also when degraded: then the window is broken */
    ck_assert_int_eq(step(), PLAN_REFUSED);
}
END_TEST

/* -- the policy -------------------------------------------------------------------------------------------------- */

enum { FIRST_PICTURES_KEPT = 8 };

static const int64_t frame_ns = 40 * MS;
static const int64_t now_ns = 1000000 * MS;

static struct decode_order decide_without_packets(struct decode_policy *policy)
{
    const struct decode_view view = {.now_ns = now_ns, .skew_ns = -1000 * MS, .frame_duration = frame_duration_of(frame_ns), .can_degrade = true};
    return decode_policy_decide(policy, &view);
}

static void pass_first_pictures(struct decode_policy *policy)
{
    for (int i = 0; i < FIRST_PICTURES_KEPT; i++)
        decide_without_packets(policy);
}

enum { PACKETS = 30 };

static struct upcoming packets_ahead[PACKETS];
static struct decoder_model empty_decoder;
static struct times none_waits;

/* Returns the order for a packet of this class. Pictures cost 30 ms; a reference ahead is so many ms late, or none (< 0). */
static struct decode_order order_for(struct decode_policy *policy, enum picture_class picture_class, int64_t late_ms, bool can_degrade)
{
    empty_decoder = (struct decoder_model){.left_ns = INT64_MIN};
    for (int i = 0; i < PACKETS; i++)
        packets_ahead[i] = (struct upcoming){1000 * MS + i * frame_ns, 10000, i ? CLASS_REFERENCE : picture_class};
    packets_ahead[PACKETS - 1].due_ns = late_ms < 0 ? 5000 * MS : 300 * MS - late_ms * MS;
    const struct outlook seen = {.frame_duration = frame_duration_of(frame_ns), .room = 2 * PACKETS, .to_present = &none_waits,
                                 .decoder = &empty_decoder, .ahead = packets_ahead, .count = PACKETS};
    const struct decode_view view = {.now_ns = now_ns, .skew_ns = -1000 * MS, .frame_duration = frame_duration_of(frame_ns),
                                     .can_degrade = can_degrade, .outlook = &seen};
    return decode_policy_decide(policy, &view);
}

static struct decode_policy degrading_policy(bool degrades)
{
    const struct policy_settings settings = {
        .drop = DROP_DEADLINE, .rule = RULE_PLAN, .base_ns = -1, .gain = -1, .degrades = degrades};
    struct decode_policy policy;
    decode_policy_init(&policy, &settings);
    const struct decode_use use = {
        .picture_class = CLASS_REFERENCE, .size_bytes = 10000, .cpu_ns = 30 * MS, .wall_ns = 30 * MS};
    for (int i = 0; i < 100; i++)
        decode_policy_learn(&policy, &use, frame_duration_of(frame_ns));
    pass_first_pictures(&policy);
    return policy;
}

START_TEST(plan_degrades_all_pictures_up_to_the_next_key_picture)
{
    struct decode_policy policy = degrading_policy(true);
    ck_assert(!order_for(&policy, CLASS_REFERENCE, -1, true).degrade);
    ck_assert(order_for(&policy, CLASS_REFERENCE, 100, true).degrade);
    ck_assert(order_for(&policy, CLASS_REFERENCE, -1, true).degrade); /* also when there is time again */
    ck_assert(order_for(&policy, CLASS_DROPPABLE, -1, true).degrade);
    ck_assert(!order_for(&policy, CLASS_KEY, -1, true).degrade);
    ck_assert(!order_for(&policy, CLASS_REFERENCE, -1, true).degrade);
    ck_assert(order_for(&policy, CLASS_KEY, 100, true).degrade); /* a key picture where there is still no time */
    ck_assert(order_for(&policy, CLASS_REFERENCE, -1, true).degrade);
}
END_TEST

START_TEST(plan_degrades_nothing_unless_it_may_and_can)
{
    struct decode_policy never = degrading_policy(false);
    ck_assert(!order_for(&never, CLASS_REFERENCE, 100, true).degrade);
    struct decode_policy policy = degrading_policy(true);
    ck_assert(!order_for(&policy, CLASS_REFERENCE, 100, false).degrade);
    ck_assert(order_for(&policy, CLASS_REFERENCE, 100, true).degrade);
}
END_TEST

START_TEST(refused_picture_is_not_degraded)
{
    struct decode_policy policy = degrading_policy(true);
    const struct decode_order order = order_for(&policy, CLASS_DROPPABLE, 1000, true);
    ck_assert(order.refuse && !order.degrade);
}
END_TEST

START_TEST(packets_ahead_that_are_not_known_end_degrading)
{
    struct decode_policy policy = degrading_policy(true);
    ck_assert(order_for(&policy, CLASS_REFERENCE, 100, true).degrade);
    ck_assert(!decide_without_packets(&policy).degrade);
    ck_assert(!order_for(&policy, CLASS_REFERENCE, -1, true).degrade);
}
END_TEST

START_TEST(seek_ends_degrading)
{
    struct decode_policy policy = degrading_policy(true);
    ck_assert(order_for(&policy, CLASS_REFERENCE, 100, true).degrade);
    decode_policy_restart(&policy);
    for (int i = 0; i <= FIRST_PICTURES_KEPT; i++)
        ck_assert(!order_for(&policy, CLASS_REFERENCE, -1, true).degrade);
}
END_TEST

int main(void)
{
    static const TTest *const *const tests[] = {
        &droppable_picture_is_degraded_before_it_is_refused,
        &all_droppable_pictures_are_degraded_before_one_is_refused,
        &references_are_degraded_when_nothing_droppable_helps,
        &stream_without_droppable_pictures_is_degraded,
        &references_before_a_wait_are_not_degraded_for_what_comes_after_it,
        &packets_before_the_next_key_picture_are_expected_to_be_degraded,
        &pictures_are_not_degraded_where_that_saves_nothing,
        &degraded_picture_is_kept_where_its_loss_is_one_too_many,
        &window_is_kept_by_degrading_some_and_refusing_others,
        &references_are_degraded_with_a_window,
        &plan_degrades_all_pictures_up_to_the_next_key_picture,
        &plan_degrades_nothing_unless_it_may_and_can,
        &refused_picture_is_not_degraded,
        &packets_ahead_that_are_not_known_end_degrading,
        &seek_ends_degrading,
    };
    TCase *const tcase = tcase_create("degrading");
    tcase_set_timeout(tcase, SUITE_TIMEOUT_DEFAULT);
    tcase_add_checked_fixture(tcase, made_up_plan_begin, NULL);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(tcase, *tests[i]);
    return suite_run_case("degrading", tcase, CK_FORK_GETENV);
}
