/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rule plan and the skip to a key picture, over invented packets. Times are in ms until they are handed over. */
#include "key_skip.h"
#include "ns.h"
#include "plan.h"

#include <check.h>

#include "made_up_plan.h"
#include "suite.h"

static const struct key_skip_settings skip = {.late_ns = 60 * NS_PER_MS, .lateness_loss = 0.5};

static bool refuses_for(bool fewest)
{
    terms.fewest = fewest;
    return step() == PLAN_REFUSED;
}

static bool refuses(void)
{
    return refuses_for(false);
}

START_TEST(nothing_is_refused_while_everything_is_in_time)
{
    packets(100, "d20 R20 d20 R20 d20 R20");
    ck_assert(!refuses());
}
END_TEST

START_TEST(picture_that_cannot_be_in_time_is_refused)
{
    packets(25, "d30 R5 d5 R5");
    ck_assert(refuses());
}
END_TEST

START_TEST(picture_is_refused_for_a_costly_one_behind_it)
{
    packets(100, "d30 R5 R50 R50 R60"); /* all end at 195, and the last is due at 260 - 10 ms … */
    ck_assert(!refuses());
    outlook.count = 0;
    packets(60, "d30 R5 R50 R50 R60"); /* … or at 220 - 10 ms */
    ck_assert(!refuses());
    outlook.count = 0;
    packets(40, "d30 R5 R50 R50 R60");
    ck_assert(refuses());
}
END_TEST

/* 30 ms are missing for the last reference. Any of the three pictures would give them. */
START_TEST(cheapest_picture_for_the_time_that_it_saves_is_lost)
{
    packets(80, "d31 d31 R20 R60 R80 R50");
    ahead[0].size_bytes = 31000;
    ck_assert(refuses()); /* equal ones: the first */
    ahead[1].size_bytes = 45000; /* costs more, saves more: its loss for each ms is less */
    ck_assert(!refuses());
}
END_TEST

/* 6 ms are missing. The loss of the small picture is seen less for what it saves. */
START_TEST(large_pictures_count_more_unless_the_fewest_are_to_be_lost)
{
    learnt.presenting_ns = 40 * NS_PER_MS;
    packets(100, "d5 d10 R41");
    ck_assert(refuses_for(false));
    ck_assert(!refuses_for(true)); /* the larger one saves more */
}
END_TEST

/* 5 ms are missing. The loss of the large picture is seen 1.3 times as much, and it saves 1.7 times as much. */
START_TEST(large_pictures_are_lost_when_they_save_enough)
{
    learnt.presenting_ns = 20 * NS_PER_MS;
    packets(50, "d10 d30 R25");
    ck_assert(!refuses_for(false));
    ck_assert(!refuses_for(true));
}
END_TEST

START_TEST(supply_stretches_the_costs)
{
    packets(30, "d18 R5");
    ck_assert(!refuses());
    for (int i = 0; i < 300; i++)
        supply_learn(&learnt.supply, 40 * NS_PER_MS, 20 * NS_PER_MS);
    ck_assert(refuses());
}
END_TEST

START_TEST(presenting_is_paid_for_unless_it_has_a_supply_of_its_own)
{
    packets(35, "d22 R5");
    ck_assert(!refuses());
    learnt.presenting_ns = 5 * NS_PER_MS;
    ck_assert(refuses());
}
END_TEST

START_TEST(decode_begins_when_the_queue_has_room)
{
    fill_queue();
    packets(480, "d60 R70"); /* they end at 460 and 530 */
    ck_assert(refuses());
    outlook.count = 0;
    packets(480, "d60 R50");
    ck_assert(!refuses());
}
END_TEST

/* The decoder waits for room before the second packet, so what the first one would save is lost. */
START_TEST(refusal_does_not_help_what_comes_after_a_wait)
{
    fill_queue();
    packets(480, "d20 R5 R90");
    ck_assert(!refuses());
}
END_TEST

START_TEST(picture_that_is_given_up_needs_no_room)
{
    outlook.room = 2;
    packets(50, "d8 d60 R60 R94"); /* the second is given up; the last one begins at 68 and would end at 162 */
    ck_assert(refuses());
    outlook.count = 0;
    packets(50, "d8 d60 R60 R88");
    ck_assert(!refuses());
}
END_TEST

START_TEST(without_a_queue_each_decode_begins_after_the_picture_before_it)
{
    outlook.room = 0;
    decoder.left_ns = 0;
    packets(40, "d45 R5"); /* without a queue 40 ms of lateness are tolerated, less 10 */
    ck_assert(!refuses());
    outlook.count = 0;
    packets(10, "d45 R5");
    ck_assert(refuses());
}
END_TEST

/* With a pyramid a reference must be decoded long before it is due: what waits for it counts. */
START_TEST(held_back_pictures_make_a_reference_urgent)
{
    decoder.delay = 1;
    ahead[outlook.count++] = (struct upcoming){60 * NS_PER_MS, 20000, CLASS_DROPPABLE};
    ahead[outlook.count++] = (struct upcoming){140 * NS_PER_MS, 60000, CLASS_REFERENCE};
    ahead[outlook.count++] = (struct upcoming){100 * NS_PER_MS, 5000, CLASS_DROPPABLE};
    ck_assert(refuses()); /* the one due at 60 comes out with the reference, at 80 */
    ahead[1].size_bytes = 25000;
    ck_assert(!refuses());
}
END_TEST

START_TEST(decoder_lets_the_earliest_out)
{
    decoder.delay = 1;
    ck_assert_int_eq(decoder_model_add(&decoder, 80), 80);
    ck_assert_int_eq(decoder.left_ns, INT64_MIN);
    ck_assert_int_eq(decoder_model_add(&decoder, 40), 40);
    ck_assert_int_eq(decoder.left_ns, 40);
    ck_assert_int_eq(decoder_model_add(&decoder, 120), 80);
    ck_assert_int_eq(decoder.left_ns, 80);
}
END_TEST

/* Four threads decode one picture each, and three are in the decoder. The first of these is due then. */
static void decode_at_once(double due_ms)
{
    decoder.delay = decoder.beside = 3;
    for (int i = 0; i < decoder.beside; i++) {
        times_insert(&decoder.held, (int64_t)((due_ms + i * FRAME_MS) * NS_PER_MS));
        times_insert(&to_present, (int64_t)((due_ms + i * FRAME_MS) * NS_PER_MS));
    }
}

/* As with one thread that puts pictures in order: 0, 0, 40, 80, 120. */
START_TEST(picture_that_waits_is_behind_those_that_are_decoded_at_once)
{
    decoder.delay = 3;
    decoder.beside = 2;
    ck_assert_int_eq(decoder_model_add(&decoder, 0), 0);
    ck_assert_int_eq(decoder_model_add(&decoder, 80), 0);
    ck_assert_int_eq(decoder_model_add(&decoder, 40), 40);
    ck_assert_int_eq(decoder.left_ns, INT64_MIN);
    ck_assert_int_eq(decoder_model_add(&decoder, 160), 80);
    ck_assert_int_eq(decoder.left_ns, 0);
    ck_assert_int_eq(decoder_model_add(&decoder, 120), 120);
    ck_assert_int_eq(decoder.left_ns, 40);
}
END_TEST

/* At the beginning, and after a seek, no picture has come out yet, and the clock stands at the first one. */
START_TEST(nothing_is_refused_while_codec_threads_fill)
{
    decode_at_once(0);
    packets(120, "d20 R20 d20 R20 d20 R20");
    ck_assert(!refuses());
}
END_TEST

/* All threads together get one CPU: each takes four times as long. */
START_TEST(codec_threads_share_what_playing_gets)
{
    decode_at_once(0);
    packets(120, "d30 R5"); /* it would end at 120, and is wanted at 120 - 10 */
    ck_assert(refuses());
    outlook.count = 0;
    packets(120, "d25 R5");
    ck_assert(!refuses());
}
END_TEST

START_TEST(pictures_in_codec_threads_take_no_room)
{
    outlook.room = 2;
    times_insert(&to_present, 40 * NS_PER_MS);
    decode_at_once(80);
    packets(200, "d20 R20 d20 R20");
    ck_assert(!refuses());
}
END_TEST

/* Fills the outlook with pictures that are just in time up to this place, and with hopeless ones behind it. */
static void hopeless_from(int place)
{
    outlook.count = 0;
    while (outlook.count < place)
        packets(25 + 10 * outlook.count, "d10");
    while (outlook.count < MOST)
        packets(0, "d10");
}

START_TEST(horizon_grows_with_the_queue_within_its_limits)
{
    static const int rooms[] = {3, 12, 13, 50, 100, 101, 5000};
    static const int horizons[] = {25, 25, 26, 100, 200, 200, 200};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        outlook.room = rooms[i];
        hopeless_from(horizons[i]);
        ck_assert(!refuses());
        hopeless_from(horizons[i] - 1);
        ck_assert(refuses());
    }
}
END_TEST

START_TEST(more_pictures_wait_than_can_be_looked_at)
{
    for (int i = 0; i < 2 * TIMES_MAX; i++)
        times_insert(&to_present, i);
    outlook.room = 5000;
    hopeless_from(PLAN_HORIZON_MAX - 1);
    ck_assert(refuses());
}
END_TEST

static bool skips(void)
{
    return key_skip_pays(&outlook, &learnt, &skip);
}

START_TEST(skip_to_a_near_key_picture_pays_when_far_behind)
{
    packets(-500, "R60 R60 R60 K60 R60");
    ck_assert(skips());
}
END_TEST

START_TEST(nothing_is_skipped_when_references_are_in_time)
{
    packets(30, "R20 d20 R20 d20 K20");
    ck_assert(!skips());
    outlook.count = 0;
    packets(-40, "R5 R5 K5"); /* or nearly */
    ck_assert(!skips());
}
END_TEST

START_TEST(pictures_in_codec_threads_are_late_without_those_behind_them)
{
    decode_at_once(-100);
    packets(20, "R5 R5 R5 K5");
    ck_assert(!skips());
}
END_TEST

START_TEST(long_freeze_costs_more_than_going_on)
{
    packets(-70, "R45 R10 R10 R10 R10 R10 R10 R10 R10 R10 R10 R10 R10 R10 R10 R10 R10 R10 R10 K10");
    ck_assert(!skips());
}
END_TEST

START_TEST(key_picture_must_be_known_and_within_three_seconds)
{
    packets(-2000, "R60 R60 R60 R60");
    ck_assert(!skips());
    outlook.count = 0;
    for (int i = 0; i < 76; i++)
        packets(-9000 + i * FRAME_MS, "R90");
    packets(-9000 + 76 * FRAME_MS, "K90");
    ck_assert(!skips()); /* 3.04 s away */
    outlook.ahead = ahead + 1;
    outlook.count--;
    ck_assert(skips());
    outlook.ahead = ahead;
}
END_TEST

int main(void)
{
    static const TTest *const *const tests[] = {
        &nothing_is_refused_while_everything_is_in_time,
        &picture_that_cannot_be_in_time_is_refused,
        &picture_is_refused_for_a_costly_one_behind_it,
        &cheapest_picture_for_the_time_that_it_saves_is_lost,
        &large_pictures_count_more_unless_the_fewest_are_to_be_lost,
        &large_pictures_are_lost_when_they_save_enough,
        &supply_stretches_the_costs,
        &presenting_is_paid_for_unless_it_has_a_supply_of_its_own,
        &decode_begins_when_the_queue_has_room,
        &refusal_does_not_help_what_comes_after_a_wait,
        &picture_that_is_given_up_needs_no_room,
        &without_a_queue_each_decode_begins_after_the_picture_before_it,
        &held_back_pictures_make_a_reference_urgent,
        &decoder_lets_the_earliest_out,
        &picture_that_waits_is_behind_those_that_are_decoded_at_once,
        &nothing_is_refused_while_codec_threads_fill,
        &codec_threads_share_what_playing_gets,
        &pictures_in_codec_threads_take_no_room,
        &horizon_grows_with_the_queue_within_its_limits,
        &more_pictures_wait_than_can_be_looked_at,
        &skip_to_a_near_key_picture_pays_when_far_behind,
        &nothing_is_skipped_when_references_are_in_time,
        &pictures_in_codec_threads_are_late_without_those_behind_them,
        &long_freeze_costs_more_than_going_on,
        &key_picture_must_be_known_and_within_three_seconds,
    };
    TCase *const tcase = tcase_create("plan");
    tcase_set_timeout(tcase, SUITE_TIMEOUT_DEFAULT);
    tcase_add_checked_fixture(tcase, made_up_plan_begin, NULL);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(tcase, *tests[i]);
    return suite_run_case("plan", tcase, CK_FORK_GETENV);
}
