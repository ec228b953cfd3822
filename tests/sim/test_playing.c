/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The player in virtual time, packet by packet. Not covered: how near this is to the real player, which is measured. */
#include "freeze.h"
#include "made_up_film.h"
#include "policy_run.h"
#include "sim_presenter.h"

#include "suite.h"

enum { PICTURES_MAX = 64 };

/* A film that is played alone on the whole CPU, unless the test changes the setting before `begin`. */
struct scene {
    struct made_up_film made;
    struct cpu_rate rate;
    struct playing_setting setting;
    struct playing playing;
    struct frame_record rows[PICTURES_MAX];
};

static struct scene scene;

static void open_scene(const char *types, int64_t cost_ns)
{
    made_up_film_init(&scene.made, types, cost_ns);
    ck_assert_int_eq(cpu_rate_constant(&scene.rate, 1), 0);
    const struct cpu_supply supply = cpu_supply_part(&scene.rate);
    scene.setting = made_up_setting(&scene.made, &supply);
    rows_begin(scene.rows, &scene.made.film);
}

static void begin(void)
{
    scene.playing = playing_begin(&scene.setting);
    scene.playing.rows = scene.rows;
}

static void close_scene(void)
{
    cpu_rate_finish(&scene.rate);
    made_up_film_finish(&scene.made);
}

static void decode(int packet)
{
    playing_wait_for_room(&scene.playing);
    ck_assert_int_eq(playing_decode(&scene.playing, scene.setting.cost_ns[packet], INT64_MAX), scene.setting.cost_ns[packet]);
    playing_take_in(&scene.playing, packet, FATE_DECODED, false);
}

static void decode_all_from(int packet)
{
    for (; packet < scene.made.film.count; packet++)
        decode(packet);
    playing_end(&scene.playing);
}

static void expect_shown(int place, int64_t skew_ns)
{
    ck_assert_int_eq(scene.rows[place].verdict, VERDICT_SHOWN);
    ck_assert_int_eq(scene.rows[place].skew_ns, skew_ns);
}

START_TEST(without_a_queue_pictures_are_shown_when_due_and_presented)
{
    open_scene("IPbPb", 10 * MS);
    begin();
    decode_all_from(0);
    for (int place = 0; place < 5; place++)
        expect_shown(place, 3 * MS);
    ck_assert_int_eq(scene.playing.tally.shown, 5);
    ck_assert_int_eq(freeze_longest_ns(scene.rows, 5), FRAME_NS);
    ck_assert_int_eq(scene.playing.presenting_ns, 3 * MS);
    close_scene();
}
END_TEST

START_TEST(without_a_queue_a_long_decode_makes_its_picture_late)
{
    open_scene("IPPP", 10 * MS);
    scene.made.film.cost_ns[2] = 60 * MS;
    begin();
    decode_all_from(0);
    /* Picture 1 was shown 3 ms late, and the decode of picture 2 began then. */
    expect_shown(1, 3 * MS);
    expect_shown(2, 3 * MS + 60 * MS - FRAME_NS + 3 * MS);
    ck_assert_int_eq(freeze_longest_ns(scene.rows, 4), 63 * MS);
    close_scene();
}
END_TEST

START_TEST(queue_hides_a_long_decode)
{
    open_scene("IPPPPP", 10 * MS);
    scene.made.film.cost_ns[4] = 90 * MS;
    scene.setting.queue = 4;
    begin();
    decode_all_from(0);
    for (int place = 2; place < 6; place++)
        expect_shown(place, MS);
    close_scene();
}
END_TEST

START_TEST(picture_is_drawn_ahead_and_flipped_when_due)
{
    open_scene("IPPPP", 10 * MS);
    scene.setting.queue = 4;
    scene.setting.flip_cpu_ns = 0;
    begin();
    decode_all_from(0);
    for (int place = 1; place < 5; place++)
        expect_shown(place, 0);
    close_scene();
}
END_TEST

START_TEST(decoder_waits_while_the_queue_is_full)
{
    open_scene("IPPPPPPPPP", 1 * MS);
    scene.setting.queue = 3;
    begin();
    for (int packet = 0; packet < 6; packet++)
        decode(packet);
    /* The presenter has picture 1, and 2 to 4 fill the queue: picture 5 was begun when the presenter took picture 2. */
    ck_assert_int_eq(scene.playing.next, 2);
    ck_assert_int_eq(playing_media_ns(&scene.playing) / MS, 40 + 1 + 1);
    ck_assert_int_eq(scene.playing.waiting, 3);
    decode_all_from(6);
    ck_assert_int_eq(scene.playing.tally.shown, 10);
    close_scene();
}
END_TEST

START_TEST(refused_pictures_need_no_room)
{
    open_scene("IPbPbPbPb", 1 * MS);
    scene.setting.queue = 3;
    begin();
    for (int packet = 0; packet < 7; packet++) {
        playing_wait_for_room(&scene.playing);
        const bool refused = scene.made.film.packets[packet].picture_class == CLASS_DROPPABLE;
        playing_take_in(&scene.playing, packet, refused ? FATE_SKIPPED : FATE_DECODED, false);
    }
    /* The key picture is with the presenter, two references are in the queue, and one is in the decoder: nobody waited. */
    ck_assert_int_eq(scene.playing.now_ns, 0);
    ck_assert_int_eq(scene.playing.waiting, 2);
    decode_all_from(7);
    ck_assert_int_eq(scene.playing.tally.skipped, 3);
    ck_assert_int_eq(scene.rows[1].verdict, VERDICT_SKIPPED);
    close_scene();
}
END_TEST

START_TEST(presenter_comes_before_the_decoder)
{
    open_scene("IPPPP", 10 * MS);
    scene.setting.queue = 4;
    scene.made.film.cost_ns[3] = 200 * MS;
    begin();
    for (int packet = 0; packet < 3; packet++)
        decode(packet);
    const int64_t before_ns = scene.playing.now_ns;
    const int64_t presented_ns = scene.playing.presenting_all_cpu_ns;
    decode(3);
    /* Picture 1 had been drawn before; it was flipped, and picture 2 was drawn and flipped. */
    ck_assert_int_eq(scene.playing.presenting_all_cpu_ns - presented_ns, 4 * MS);
    ck_assert_int_eq(scene.playing.now_ns - before_ns, 204 * MS);
    expect_shown(2, MS);
    close_scene();
}
END_TEST

START_TEST(presenter_with_time_of_its_own_does_not_delay_the_decoder)
{
    open_scene("IPPPP", 10 * MS);
    scene.setting.queue = 4;
    scene.setting.presents_apart = true;
    scene.setting.presenting = cpu_supply_part(&scene.rate);
    scene.made.film.cost_ns[3] = 200 * MS;
    begin();
    for (int packet = 0; packet < 3; packet++)
        decode(packet);
    const int64_t before_ns = scene.playing.now_ns;
    decode(3);
    ck_assert_int_eq(scene.playing.now_ns - before_ns, 200 * MS);
    expect_shown(2, MS);
    close_scene();
}
END_TEST

START_TEST(decode_ends_at_its_deadline)
{
    open_scene("IPPPP", 10 * MS);
    scene.setting.queue = 4;
    begin();
    decode(0);
    const int64_t until_ns = scene.playing.now_ns + 100 * MS;
    /* Showing picture 0 takes 6 ms of it: it is drawn, the clock starts, and it is drawn again. */
    ck_assert_int_eq(playing_decode(&scene.playing, 200 * MS, until_ns), 100 * MS - 6 * MS);
    ck_assert_int_eq(scene.playing.now_ns, until_ns);
    close_scene();
}
END_TEST

START_TEST(clock_waits_for_the_head_start)
{
    open_scene("IPPPPPPPPP", 10 * MS);
    scene.setting.queue = 8;
    scene.setting.head_start = 5;
    begin();
    decode_all_from(0);
    /* 4 pictures more after the first one and its drawing. That is seen 5 ms later; then the first one is shown. */
    ck_assert_int_eq(scene.rows[0].shown_ns, 10 * MS + 3 * MS + 40 * MS + 5 * MS + 3 * MS);
    close_scene();
}
END_TEST

START_TEST(clock_does_not_wait_for_ever)
{
    open_scene("IPPPPPPPPP", 100 * MS);
    scene.setting.queue = 8;
    scene.setting.head_start = 8;
    begin();
    decode_all_from(0);
    ck_assert_int_eq(scene.rows[0].shown_ns, 100 * MS + 3 * MS + 300 * MS + 3 * MS);
    close_scene();
}
END_TEST

START_TEST(packets_passed_over_are_skipped_and_the_decoder_is_drained)
{
    open_scene("IPbPbPbIbPb", 1 * MS);
    begin();
    for (int packet = 0; packet < 3; packet++)
        decode(packet);
    ck_assert_int_eq(scene.playing.held_count, 1);
    playing_drain(&scene.playing);
    ck_assert_int_eq(scene.playing.tally.shown, 3);
    for (int packet = 3; packet < 7; packet++)
        playing_pass_over(&scene.playing, packet);
    decode(7);
    playing_pass_over(&scene.playing, 8); /* leads the key picture */
    decode_all_from(9);
    ck_assert_int_eq(scene.playing.tally.skipped, 5);
    ck_assert_int_eq(scene.playing.tally.shown, 6);
    ck_assert_int_eq(scene.rows[7].verdict, VERDICT_SKIPPED);
    ck_assert_int_eq(scene.rows[8].verdict, VERDICT_SHOWN);
    ck_assert_double_eq(scene.playing.tally.rmse_q16, 100 + 200 + 300 + 400 + 500);
    ck_assert_int_eq(freeze_longest_ns(scene.rows, 11), 6 * FRAME_NS);
    close_scene();
}
END_TEST

START_TEST(with_a_tolerance_only_pictures_in_time_are_shown)
{
    open_scene("IPPPP", 10 * MS);
    scene.setting.tolerance_ns = 25 * MS;
    scene.made.film.cost_ns[1] = 60 * MS;
    scene.made.film.cost_ns[3] = 59 * MS;
    begin();
    decode_all_from(0);
    /* Picture 1 would be shown 26 ms late and picture 3 25 ms late. */
    ck_assert_int_eq(scene.rows[1].verdict, VERDICT_LATE);
    expect_shown(3, 25 * MS);
    ck_assert_int_eq(scene.playing.tally.late, 1);
    close_scene();
}
END_TEST

START_TEST(copy_goes_its_own_way)
{
    open_scene("IPPPP", 10 * MS);
    scene.setting.queue = 2;
    begin();
    decode(0);
    struct playing copy = scene.playing;
    copy.rows = NULL;
    playing_take_in(&copy, 1, FATE_SKIPPED, false);
    decode(1);
    ck_assert_int_gt(scene.playing.now_ns, copy.now_ns);
    decode_all_from(2);
    ck_assert_int_eq(scene.playing.tally.shown, 5);
    close_scene();
}
END_TEST

/* As in the player, where the presenter knows the packet that let a picture out, and not the picture's own. */
START_TEST(picture_is_a_first_one_if_the_packet_that_lets_it_out_is)
{
    open_scene("IPbPb", 1 * MS);
    scene.setting.queue = 8;
    begin();
    for (int packet = 0; packet < 3; packet++) {
        playing_wait_for_room(&scene.playing);
        playing_decode(&scene.playing, 1 * MS, INT64_MAX);
        playing_take_in(&scene.playing, packet, FATE_DECODED, packet < 2);
        ck_assert_int_eq(scene.playing.out_end, packet); /* the decoder holds one back */
        if (packet > 0)
            ck_assert_int_eq(scene.playing.pictures[packet - 1].is_starting, packet < 2);
    }
    close_scene();
}
END_TEST

START_TEST(queue_has_room_for_two_pictures_at_least)
{
    struct playing_setting setting = {.queue = 0};
    ck_assert_int_eq(sim_queue_limit(&setting), 0);
    for (setting.queue = 1; setting.queue < 10; setting.queue++)
        ck_assert_int_eq(sim_queue_limit(&setting), setting.queue < 2 ? 2 : setting.queue);
}
END_TEST

START_TEST(packet_that_is_passed_over_has_no_marker)
{
    open_scene("IPPP", 1 * MS);
    scene.setting.queue = 8;
    begin();
    decode(0);
    playing_pass_over(&scene.playing, 1);
    playing_take_in(&scene.playing, 2, FATE_SKIPPED, false);
    ck_assert(scene.playing.pictures[1].passed_over);
    ck_assert(!scene.playing.pictures[2].passed_over);
    close_scene();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        without_a_queue_pictures_are_shown_when_due_and_presented,
        without_a_queue_a_long_decode_makes_its_picture_late,
        queue_hides_a_long_decode,
        picture_is_drawn_ahead_and_flipped_when_due,
        decoder_waits_while_the_queue_is_full,
        refused_pictures_need_no_room,
        presenter_comes_before_the_decoder,
        presenter_with_time_of_its_own_does_not_delay_the_decoder,
        decode_ends_at_its_deadline,
        clock_waits_for_the_head_start,
        clock_does_not_wait_for_ever,
        packets_passed_over_are_skipped_and_the_decoder_is_drained,
        with_a_tolerance_only_pictures_in_time_are_shown,
        copy_goes_its_own_way,
        picture_is_a_first_one_if_the_packet_that_lets_it_out_is,
        queue_has_room_for_two_pictures_at_least,
        packet_that_is_passed_over_has_no_marker,
        NULL,
    };
    return suite_run("playing", SUITE_TIMEOUT_DEFAULT, tests);
}
