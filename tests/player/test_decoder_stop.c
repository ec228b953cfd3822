/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A decode that is stopped from outside, as at a seek. Not covered: that a seek requests it (tests/input), and the trigger
 * behind a jump (libdlex/tests).
 */
#include "clip.h"
#include "clip_path.h"
#include "decoder.h"

#include <check.h>
#include <dlex/dlex.h>
#include <signal.h>

#include "suite.h"

enum { THREADS = 3, PACKETS = 50, PACKETS_EACH = 20 };

struct counts {
    int droppable;
    int abandoned;
    int withheld;
    int packets;
    int pictures;
};

static struct clip clip;
static struct decoder *decoder;
static struct decode_stop stop;
static volatile sig_atomic_t no_signal;
static int64_t jobs;

/* Left by a jump; polled, with frame threads and slice threads too; and withheld. */
static const char *const names[] = {"progressive_cabac", "hevc_small", "mpeg2_ibbp", "mpeg4_small", "av1_svt"};
static const struct decoder_settings ways[] = {
    {.threads = 1, .may_jump = true}, {.threads = 1}, {.threads = THREADS}};
enum { H264, HEVC, AV1 = 4 }; /* in names */
enum { NAME_COUNT = sizeof names / sizeof *names, WAY_COUNT = sizeof ways / sizeof *ways, RUNS = NAME_COUNT * WAY_COUNT };

/* Returns false if the clip cannot be made on this machine. */
static bool open_clip(int run)
{
    char path[4096];
    char why[256];
    const int missing = clip_path(path, sizeof path, names[run / WAY_COUNT]);
    ck_assert_int_ge(missing, 0);
    if (missing)
        return false;
    ck_assert_int_eq(clip_open(&clip, path, &no_signal, why, sizeof why), 0);
    ck_assert_int_eq(decoder_open(&decoder, clip.video, &ways[run % WAY_COUNT], why, sizeof why), 0);
    ck_assert_int_eq(decoder_threads(decoder)->count, ways[run % WAY_COUNT].threads);
    decode_stop_reset(&stop);
    return true;
}

static void teardown(void)
{
    decoder_close(&decoder);
    clip_close(&clip);
}

static void count_pictures(struct counts *counts)
{
    AVFrame *frame = av_frame_alloc();
    struct taken_picture picture;
    while (decoder_take(decoder, frame, &picture)) {
        counts->pictures++;
        counts->droppable += !!(frame->flags & AV_FRAME_FLAG_DROPPABLE);
        counts->abandoned += !!(frame->flags & AV_FRAME_FLAG_ABANDONED);
        if (picture.decode.is_known)
            ck_assert_int_eq(picture.decode.verdict == VERDICT_ABORTED, !!(frame->flags & AV_FRAME_FLAG_ABANDONED));
        av_frame_unref(frame);
    }
    av_frame_free(&frame);
}

static void drain(struct counts *counts)
{
    const struct decode_job job = {.order = {.deadline_ns = NO_DEADLINE}};
    struct decode_outcome outcome;
    while (decoder_run(decoder, &job, &outcome) != AVERROR_EOF)
        count_pictures(counts);
    count_pictures(counts);
    decoder_flush(decoder);
}

/* Decodes this many packets, from a key picture on, to the last picture, and says what became of the droppable ones. */
static struct counts decode(int packets)
{
    struct counts counts = {0};
    AVPacket *packet = av_packet_alloc();
    ck_assert_int_ge(av_seek_frame(clip.format, -1, clip.format->start_time, AVSEEK_FLAG_BACKWARD), 0);
    while (counts.packets < packets && av_read_frame(clip.format, packet) >= 0) {
        if (packet->stream_index == clip.video->index) {
            const struct decode_job job = {.packet = packet, .number = jobs++, .order = {.deadline_ns = NO_DEADLINE}};
            struct decode_outcome outcome;
            decoder_run(decoder, &job, &outcome);
            count_pictures(&counts);
            counts.withheld += outcome.is_withheld;
            counts.packets++;
        }
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    drain(&counts);
    return counts;
}

START_TEST(stop_abandons_droppable_pictures_only)
{
    if (!open_clip(_i))
        return;
    decoder_stop_by(decoder, &stop);
    decode_stop_request(&stop);
    const struct counts counts = decode(PACKETS);
    ck_assert_int_gt(counts.droppable, 5);
    ck_assert_int_eq(counts.abandoned, counts.droppable);
    ck_assert_int_eq(counts.withheld, decoder_withholds(decoder) ? counts.abandoned : 0);
    ck_assert_int_lt(counts.droppable, counts.packets);
}
END_TEST

START_TEST(stop_that_is_not_requested_changes_nothing)
{
    if (!open_clip(_i))
        return;
    decoder_stop_by(decoder, &stop);
    ck_assert_int_eq(decode(PACKETS_EACH).abandoned, 0);
    decode_stop_request(&stop);
    ck_assert_int_gt(decode(PACKETS_EACH).abandoned, 0);
    decode_stop_reset(&stop);
    ck_assert_int_eq(decode(PACKETS_EACH).abandoned, 0);
    decode_stop_request(&stop);
    decoder_stop_by(decoder, NULL);
    ck_assert_int_eq(decode(PACKETS_EACH).abandoned, 0);
}
END_TEST

static void count_row(void *rows)
{
    ck_assert_int_gt(dlex_guard_.depth, 0); /* a protected section */
    ++*(int *)rows;
}

START_TEST(rows_are_reported_where_the_codec_can)
{
    if (!open_clip(_i))
        return;
    int rows = 0;
    decoder_pause_by(decoder, (struct decode_pause){count_row, &rows});
    const struct counts counts = decode(PACKETS_EACH);
    const int name = _i / WAY_COUNT;
    const struct decoder_settings *const way = &ways[_i % WAY_COUNT];
    const bool jumps = way->may_jump && name == H264; /* while rows are reported, libavcodec does not let it */
    const bool can = name != HEVC && name != AV1 && way->threads == 1 && !jumps;
    const int rows_each = (clip.video->codecpar->height + 15) / 16;
    ck_assert_int_gt(counts.pictures, 2);
    ck_assert_int_ge(rows, can ? counts.pictures * (rows_each - 1) : 0); /* the last rows come together */
    ck_assert_int_le(rows, can ? counts.packets * rows_each : 0);
    decoder_pause_by(decoder, (struct decode_pause){0});
    rows = 0;
    decode(PACKETS_EACH);
    ck_assert_int_eq(rows, 0);
}
END_TEST

int main(void)
{
    TCase *const cases = tcase_create("decoder_stop");
    tcase_set_timeout(cases, 120);
    tcase_add_checked_fixture(cases, NULL, teardown);
    tcase_add_loop_test(cases, stop_abandons_droppable_pictures_only, 0, RUNS);
    tcase_add_loop_test(cases, stop_that_is_not_requested_changes_nothing, 0, RUNS);
    tcase_add_loop_test(cases, rows_are_reported_where_the_codec_can, 0, RUNS);
    return suite_run_case("decoder_stop", cases, CK_FORK_GETENV);
}
