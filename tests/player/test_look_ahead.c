/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What rule plan sees: packets in their queue, pictures in the decoder and in theirs. All are made up. Not covered: what it
 * decides with that (test_plan.c), and real files (tests/input/test_plan.py).
 */
#include "look_ahead.h"
#include "ns.h"

#include <check.h>

#include "suite.h"

enum { FRAME_MS = 40, SIZE = 100 };
#define FRAME_NS (FRAME_MS * NS_PER_MS)

static AVFormatContext *format;
static AVStream *stream;
static struct read_ahead *ahead;
static struct packet_queue *packets;
static struct picture_queue *pictures;
static struct look_ahead look;

static void setup(void)
{
    format = avformat_alloc_context();
    stream = avformat_new_stream(format, NULL);
    stream->time_base = (AVRational){1, 1000};
    stream->codecpar->codec_id = AV_CODEC_ID_H264;
    ck_assert_int_eq(read_ahead_create(&ahead), 0);
    const struct packet_queue_settings settings = {INT64_MAX, ahead, READ_VIDEO, stream, FRAME_NS};
    ck_assert_int_eq(queue_create(&packets, &settings), 0);
    const struct queue_limit limit = {.pictures = 50, .bytes = INT64_MAX, .span_ns = 400 * NS_PER_MS};
    ck_assert_int_eq(picture_queue_create(&pictures, &limit), 0);
    look = (struct look_ahead){.packets = packets, .pictures = pictures};
    look_ahead_restart(&look);
}

static void teardown(void)
{
    picture_queue_destroy(&pictures);
    queue_destroy(&packets);
    read_ahead_destroy(&ahead);
    avformat_free_context(format);
}

/* A slice of H.264 behind a start code. */
static AVPacket *packet_at(int64_t pts_ms, char kind, int size)
{
    AVPacket *const packet = av_packet_alloc();
    ck_assert_int_eq(av_new_packet(packet, size), 0);
    static const uint8_t start[] = {0, 0, 0, 1};
    for (size_t i = 0; i < sizeof start; i++)
        packet->data[i] = start[i];
    packet->data[4] = kind == 'd' ? 0x01 : kind == 'K' ? 0x65 : 0x41;
    packet->pts = packet->dts = pts_ms;
    packet->flags = kind == 'K' ? AV_PKT_FLAG_KEY : kind == 'x' ? AV_PKT_FLAG_DISCARD : 0;
    return packet;
}

static void push(int64_t pts_ms, char kind)
{
    AVPacket *packet = packet_at(pts_ms, kind, SIZE + (int)queue_peek(packets, look.glances, LOOK_AHEAD_PACKETS - 1));
    ck_assert_int_eq(queue_push(packets, packet), 0);
    av_packet_free(&packet);
}

static const struct outlook *outlook_from(int64_t pts_ms)
{
    AVPacket *packet = packet_at(pts_ms, 'd', SIZE);
    const struct outlook *const outlook = look_ahead_from(&look, packet, CLASS_DROPPABLE, 7 * NS_PER_MS,
                                                          frame_duration_of(FRAME_NS), 2);
    av_packet_free(&packet);
    return outlook;
}

static void push_picture(int64_t due_ms, bool abandoned)
{
    AVFrame *frame = av_frame_alloc();
    frame->buf[0] = av_buffer_alloc(1);
    struct decoded_picture picture = {.frame = frame, .abandoned = abandoned, .due_ns = due_ms * NS_PER_MS};
    ck_assert_int_eq(picture_queue_push_picture(pictures, &picture), 0);
    av_frame_free(&frame);
}

START_TEST(packets_ahead_have_times_sizes_and_classes)
{
    push(120, 'R');
    push(80, 'd');
    push(200, 'R');
    push(160, 'R');
    push(240, 'K');
    const struct outlook *const outlook = outlook_from(40);
    static const enum picture_class classes[] = {CLASS_DROPPABLE,   CLASS_REFERENCE,   CLASS_DROPPABLE,
                                                 CLASS_REFERENCE, CLASS_REFERENCE_B, CLASS_KEY};
    static const int64_t due_ms[] = {40, 120, 80, 200, 160, 240};
    ck_assert_int_eq(outlook->count, 6);
    for (int i = 0; i < outlook->count; i++) {
        ck_assert_int_eq(outlook->ahead[i].picture_class, classes[i]);
        ck_assert_int_eq(outlook->ahead[i].due_ns, due_ms[i] * NS_PER_MS);
        ck_assert_int_eq(outlook->ahead[i].size_bytes, i ? SIZE + i - 1 : SIZE);
    }
    ck_assert_int_eq(outlook->now_ns, 7 * NS_PER_MS);
}
END_TEST

/* Discarded packets before the second part of an edit list go far back. */
START_TEST(discarded_packets_ahead_are_left_out)
{
    push(80, 'R');
    for (int i = 0; i < 4; i++)
        push(-4000 + 40 * i, 'x');
    push(120, 'R');
    const struct outlook *const outlook = outlook_from(40);
    ck_assert_int_eq(outlook->count, 3);
    ck_assert_int_eq(outlook->ahead[2].due_ns, 120 * NS_PER_MS);
    ck_assert_int_eq(outlook->ahead[2].picture_class, CLASS_REFERENCE);
    ck_assert_int_eq(outlook->ahead[2].size_bytes, SIZE + 5);
}
END_TEST

START_TEST(times_beyond_all_clocks_are_unknown)
{
    static const int64_t far_ms[] = {AV_NOPTS_VALUE + 1, INT64_MIN / NS_PER_MS, -INT64_MAX / NS_PER_MS / 4,
                                     INT64_MAX / NS_PER_MS / 4, INT64_MAX};
    for (size_t i = 0; i < sizeof far_ms / sizeof *far_ms; i++)
        ck_assert_ptr_null(outlook_from(far_ms[i]));
    AVPacket *packet = packet_at(INT64_MAX / NS_PER_MS / 4, 'R', SIZE);
    ck_assert(queue_glance(packets, packet).pts_ns == NS_UNKNOWN);
    av_packet_free(&packet);
}
END_TEST

START_TEST(packets_stay_in_their_queue)
{
    push(120, 'R');
    outlook_from(40);
    AVPacket *packet;
    ck_assert_int_eq(queue_pop(packets, &packet, 0), QUEUE_PACKET);
    ck_assert_int_eq(packet->pts, 120);
    av_packet_free(&packet);
}
END_TEST

START_TEST(packets_behind_a_jump_of_time_are_not_seen)
{
    push(80, 'R');
    push(500000, 'R');
    push(120, 'R');
    ck_assert_int_eq(outlook_from(40)->count, 2);
}
END_TEST

START_TEST(packets_behind_a_small_step_back_are_not_seen)
{
    push(80, 'R');
    push(9000, 'R');
    push(7001, 'd'); /* a pyramid of B pictures might do this */
    push(7000, 'R');
    push(7040, 'K');
    ck_assert_int_eq(outlook_from(40)->count, 4);
}
END_TEST

START_TEST(packets_without_a_time_end_the_outlook)
{
    push(80, 'R');
    push(AV_NOPTS_VALUE, 'R');
    ck_assert_int_eq(outlook_from(40)->count, 2);
    ck_assert_ptr_null(outlook_from(AV_NOPTS_VALUE));
}
END_TEST

START_TEST(time_far_from_the_clock_is_not_planned)
{
    push(80, 'R');
    ck_assert_ptr_nonnull(outlook_from(10000));
    ck_assert_ptr_null(outlook_from(10008));
    ck_assert_ptr_null(outlook_from(-9994));
}
END_TEST

START_TEST(time_between_pictures_is_that_of_the_packets)
{
    for (int i = 0; i < 6; i++)
        push(56 + 16 * i, 'R');
    ck_assert_int_eq(frame_duration_ns(outlook_from(40)->frame_duration), FRAME_NS); /* too few */
    push(56 + 16 * 6, 'R');
    ck_assert_int_eq(frame_duration_ns(outlook_from(40)->frame_duration), 16 * NS_PER_MS);
    ck_assert_int_eq(outlook_from(40)->room, 25);
}
END_TEST

START_TEST(packets_at_one_time_have_a_duration_and_make_room_for_pictures)
{
    stream->time_base = (AVRational){1, 1000000000}; /* as of a film of 1999999999 pictures a second */
    for (int i = 0; i < 20; i++)
        push(i / 2, 'R');
    ck_assert_int_eq(frame_duration_ns(outlook_from(0)->frame_duration), FRAME_DURATION_MIN_NS);
    ck_assert_int_eq(outlook_from(0)->room, 50);
}
END_TEST

START_TEST(duration_of_a_picture_is_never_0)
{
    static const int64_t any_ns[] = {INT64_MIN, -1, 0, 1, FRAME_DURATION_MIN_NS};
    for (size_t i = 0; i < sizeof any_ns / sizeof *any_ns; i++)
        ck_assert_int_eq(frame_duration_ns(frame_duration_of(any_ns[i])), FRAME_DURATION_MIN_NS);
    ck_assert_int_eq(frame_duration_ns((struct frame_duration){0}), FRAME_DURATION_MIN_NS);
    ck_assert_int_eq(frame_duration_ns(frame_duration_of(FRAME_NS)), FRAME_NS);
    ck_assert_int_eq(frame_duration_ns(frame_duration_of(INT64_MAX)), FRAME_DURATION_MAX_NS);
}
END_TEST

START_TEST(no_more_packets_are_seen_than_there_is_room_for)
{
    for (int i = 0; i < 2 * LOOK_AHEAD_PACKETS; i++)
        push(80 + i, 'R');
    ck_assert_int_eq(outlook_from(40)->count, LOOK_AHEAD_PACKETS);
}
END_TEST

START_TEST(pictures_that_wait_are_those_of_the_queue_and_the_decoder)
{
    push_picture(10, false);
    push_picture(50, true);
    push_picture(90, false);
    look_ahead_note_packet(&look, 170 * NS_PER_MS, true);
    look_ahead_note_packet(&look, 130 * NS_PER_MS, false);
    const struct outlook *const outlook = outlook_from(210);
    static const int64_t due_ms[] = {10, 90, 170};
    ck_assert_int_eq(outlook->to_present->count, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(outlook->to_present->at_ns[i], due_ms[i] * NS_PER_MS);
    ck_assert_int_eq(outlook->waiting_with_markers, 3);
    ck_assert_int_eq(outlook->decoder->held.count, 2);
    ck_assert_int_eq(outlook->decoder->delay, 2);
}
END_TEST

START_TEST(room_is_what_the_narrowest_limit_allows)
{
    ck_assert_int_eq(outlook_from(40)->room, 10); /* 400 ms */
    look.pictures = NULL;
    ck_assert_int_eq(outlook_from(40)->room, 0);
    ck_assert_int_eq(outlook_from(40)->to_present->count, 0);
}
END_TEST

/* Pictures come out in order, so one that was lost in the decoder is not in there either. */
START_TEST(pictures_leave_the_decoder_with_those_before_them)
{
    look_ahead_note_packet(&look, 40 * NS_PER_MS, true);
    look_ahead_note_packet(&look, 120 * NS_PER_MS, true);
    look_ahead_note_packet(&look, 80 * NS_PER_MS, true);
    look_ahead_note_packet(&look, NS_UNKNOWN, true);
    look_ahead_note_picture(&look, 80 * NS_PER_MS);
    const struct outlook *const outlook = outlook_from(160);
    ck_assert_int_eq(outlook->decoder->held.count, 1);
    ck_assert_int_eq(outlook->decoder->held.at_ns[0], 120 * NS_PER_MS);
    ck_assert_int_eq(outlook->decoder->left_ns, 80 * NS_PER_MS);
    ck_assert_int_eq(outlook->to_present->count, 1);
}
END_TEST

static bool is_lost(const struct outlook *found, int place)
{
    ck_assert_int_lt(place, found->past->count);
    return found->past->pictures[place].lost;
}

START_TEST(fates_of_pictures_are_in_the_outlook)
{
    look_ahead_note_fate(&look, 7, 40 * NS_PER_MS, false);
    look_ahead_note_fate(&look, 8, 120 * NS_PER_MS, false);
    look_ahead_note_fate(&look, 9, 80 * NS_PER_MS, true);
    look_ahead_note_fate(&look, 10, NS_UNKNOWN, true);
    const struct outlook *found = outlook_from(160);
    ck_assert_int_eq(found->past->count, 3);
    ck_assert(!is_lost(found, 0) && is_lost(found, 1) && !is_lost(found, 2));
    look_ahead_note_loss(&look, 8);
    found = outlook_from(160);
    ck_assert(!is_lost(found, 0) && is_lost(found, 1) && is_lost(found, 2));
}
END_TEST

START_TEST(late_pictures_are_lost_when_the_presenter_reports_them)
{
    struct late_pictures late = {0};
    for (int i = 0; i < 100; i++)
        look_ahead_note_fate(&look, i, i * FRAME_NS, false);
    late.numbers[late.count++] = 3;
    look_ahead_note_late(&look, &late);
    late.numbers[late.count++] = 5;
    late.numbers[late.count++] = 1000;
    ck_assert(is_lost(outlook_from(160), 3) && !is_lost(outlook_from(160), 5));
    look_ahead_note_late(&look, &late);
    ck_assert(is_lost(outlook_from(160), 5));
    for (int i = 0; i < LATE_PICTURES_MAX + 10; i++)
        late.numbers[late.count++ % LATE_PICTURES_MAX] = 10 + i;
    look_ahead_note_late(&look, &late); /* of more than there is room for, the last ones are known */
    const struct outlook *const found = outlook_from(160);
    ck_assert(!is_lost(found, 10) && !is_lost(found, 19) && is_lost(found, 20));
    ck_assert(is_lost(found, 19 + LATE_PICTURES_MAX) && !is_lost(found, 20 + LATE_PICTURES_MAX));
}
END_TEST

int main(void)
{
    static const TTest *const *const tests[] = {
        &packets_ahead_have_times_sizes_and_classes,
        &discarded_packets_ahead_are_left_out,
        &times_beyond_all_clocks_are_unknown,
        &packets_stay_in_their_queue,
        &packets_behind_a_jump_of_time_are_not_seen,
        &packets_behind_a_small_step_back_are_not_seen,
        &packets_without_a_time_end_the_outlook,
        &time_far_from_the_clock_is_not_planned,
        &time_between_pictures_is_that_of_the_packets,
        &packets_at_one_time_have_a_duration_and_make_room_for_pictures,
        &duration_of_a_picture_is_never_0,
        &no_more_packets_are_seen_than_there_is_room_for,
        &pictures_that_wait_are_those_of_the_queue_and_the_decoder,
        &room_is_what_the_narrowest_limit_allows,
        &pictures_leave_the_decoder_with_those_before_them,
        &fates_of_pictures_are_in_the_outlook,
        &late_pictures_are_lost_when_the_presenter_reports_them,
    };
    TCase *const tcase = tcase_create("look_ahead");
    tcase_set_timeout(tcase, SUITE_TIMEOUT_DEFAULT);
    tcase_add_checked_fixture(tcase, setup, teardown);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(tcase, *tests[i]);
    return suite_run_case("look_ahead", tcase, CK_FORK_GETENV);
}
