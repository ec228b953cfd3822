/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How often a decoder asks whether to give up a droppable picture: before each row of blocks, and before other work that takes
 * as long. Where it does not ask, nothing can end a decode.
 *
 * Not covered: concealment of damaged pictures, which decoders do not ask about; how long a row takes (bench/decode).
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "gate_clips.h"
#include "made_streams.h"
#include "ns.h"
#include "suite.h"

enum { THREADS = 3, TAIL_ROWS = 3 };

static const struct decode_mode one_thread = {WAY_POLL, 1, FF_THREAD_FRAME};
static const struct decode_mode frame_threads = {WAY_POLL, THREADS, FF_THREAD_FRAME};
static const struct decode_mode slice_threads = {WAY_POLL, THREADS, FF_THREAD_SLICE};

static int parts(int length, int part)
{
    return (length + part - 1) / part;
}

/* Returns how many questions the decoder must ask about a picture of this size, at least. */
static int questions_needed(const struct gate_clip *clip, int width, int height)
{
    enum { MACROBLOCK = 16, PAIR = 32, SUPERBLOCK = 64 };
    if (!strcmp(clip->codec, "hevc"))
        return parts(width, SUPERBLOCK) * parts(height, SUPERBLOCK);
    if (!strcmp(clip->codec, "vp9"))
        return parts(height, SUPERBLOCK);
    return parts(height, strcmp(clip->name, "h264_mbaff") ? MACROBLOCK : PAIR);
}

static bool load(const struct gate_clip *clip, struct coded_stream *stream)
{
    const int loaded = gate_clip_load(clip, stream);
    ck_assert_int_ge(loaded, 0);
    return loaded;
}

/* Counts the questions of a decode in which nothing is given up. The caller finishes the pass. */
static struct decode_pass count_questions(const struct coded_stream *stream, struct decode_mode mode)
{
    struct decode_pass pass = {.mode = mode, .policy = PASS_OPEN};
    ck_assert_int_eq(pass_decode(&pass, stream), 0);
    return pass;
}

/* Returns the questions about a picture, or -1 if it is not droppable. */
static int questions_about(const struct decode_pass *pass, size_t picture)
{
    const struct fingerprint *const print = &pass->pictures[picture];
    ck_assert(!print->droppable || print->packet >= 0);
    return print->droppable ? pass->records[print->packet].asks : -1;
}

static void expect_questions(const struct gate_clip *clip, const struct coded_stream *stream, struct decode_mode mode)
{
    char name[128];
    char how[64];
    struct decode_pass pass = count_questions(stream, mode);
    for (size_t i = 0; i < pass.picture_count; i++) {
        const int asked = questions_about(&pass, i);
        const int needed = questions_needed(clip, pass.pictures[i].width, pass.pictures[i].height);
        ck_assert_msg(asked < 0 || asked >= needed, "%s, %s: %d questions about picture %zu, not %d",
                      gate_clip_describe(clip, name, sizeof(name)), mode_name(mode, how, sizeof(how)), asked, i, needed);
    }
    pass_finish(&pass);
}

START_TEST(each_row_of_blocks_is_asked_about)
{
    const struct gate_clip *const clip = &gate_clips[_i];
    const struct decode_mode modes[] = {one_thread, frame_threads, slice_threads};
    struct coded_stream stream;
    if (clip->damaged || clip->joined || clip->seek || !load(clip, &stream))
        return;
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
        if (mode_is_possible(&stream, modes[i]))
            expect_questions(clip, &stream, modes[i]);
    stream_finish(&stream);
}
END_TEST

START_TEST(deblocking_behind_slice_threads_is_asked_about)
{
    const struct gate_clip clip = {.codec = "h264", .name = "h264_slices"};
    struct coded_stream stream;
    if (!load(&clip, &stream))
        return;
    struct decode_pass pass = count_questions(&stream, slice_threads);
    for (size_t i = 0; i < pass.picture_count; i++) {
        const int asked = questions_about(&pass, i);
        if (asked >= 0)
            ck_assert_int_ge(asked, 2 * questions_needed(&clip, pass.pictures[i].width, pass.pictures[i].height));
    }
    pass_finish(&pass);
    stream_finish(&stream);
}
END_TEST

static int64_t sum_of(const struct coded_stream *stream, struct decode_mode mode)
{
    struct decode_pass pass = count_questions(stream, mode);
    int64_t sum = 0;
    for (size_t i = 0; i < pass.picture_count; i++)
        sum += questions_about(&pass, i) > 0 ? questions_about(&pass, i) : 0;
    pass_finish(&pass);
    ck_assert_int_gt(sum, 0);
    return sum;
}

/* With slice threads each column of tiles asks for itself, and there are two. What is above that comes from the loop filter. */
START_TEST(loop_filter_of_vp9_behind_slice_threads_is_asked_about)
{
    const struct gate_clip clip = {.codec = "vp9", .name = "vp9_tiles"};
    struct coded_stream stream;
    if (!load(&clip, &stream))
        return;
    ck_assert_int_gt(sum_of(&stream, slice_threads), 2 * sum_of(&stream, one_thread));
    stream_finish(&stream);
}
END_TEST

/* The same pictures, with and without grain: there is one question more about each. */
static void expect_question_before_grain(const struct gate_clip *clip)
{
    struct coded_stream plain;
    struct coded_stream grainy;
    if (!load(clip, &plain))
        return;
    ck_assert_int_eq(grainy_stream(&grainy, &plain), 0);
    struct decode_pass without = count_questions(&plain, one_thread);
    struct decode_pass with = count_questions(&grainy, one_thread);
    ck_assert_uint_eq(with.picture_count, without.picture_count);
    for (size_t i = 0; i < with.picture_count; i++)
        if (with.pictures[i].droppable)
            ck_assert_int_eq(questions_about(&with, i), questions_about(&without, i) + 1);
    pass_finish(&with);
    pass_finish(&without);
    stream_finish(&grainy);
    stream_finish(&plain);
}

START_TEST(film_grain_is_asked_about)
{
    expect_question_before_grain(&(const struct gate_clip){.codec = "h264", .name = "h264_cabac"});
    expect_question_before_grain(&(const struct gate_clip){.codec = "hevc", .name = "hevc_pyramid"});
}
END_TEST

/* With coding tree units of 16 samples, one in four is asked about. */
START_TEST(small_coding_tree_units_are_not_all_asked_about)
{
    static const char *const names[] = {"hevc_open", "hevc_wavefront"};
    const struct decode_mode modes[] = {one_thread, slice_threads};
    for (int i = 0; i < 2; i++) {
        const struct gate_clip clip = {.codec = "hevc", .name = names[i]};
        struct coded_stream stream;
        if (!load(&clip, &stream))
            continue;
        struct decode_pass pass = count_questions(&stream, modes[i]);
        for (size_t j = 0; j < pass.picture_count; j++)
            if (pass.pictures[j].droppable)
                ck_assert_int_eq(questions_about(&pass, j),
                                 parts(pass.pictures[j].width, 64) * parts(pass.pictures[j].height, 16));
        pass_finish(&pass);
        stream_finish(&stream);
    }
}
END_TEST

/* -- what comes behind the last question ----------------------------------------------------------------------- */

/* CPU time of the process; 0: not asked. */
struct asked {
    int64_t first_ns;
    int64_t last_ns;
};

static int64_t cpu_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static int note_question(AVCodecContext *avctx, const AVFrame *picture)
{
    (void)picture;
    struct asked *const asked = avctx->opaque;
    asked->last_ns = cpu_now_ns();
    if (!asked->first_ns)
        asked->first_ns = asked->last_ns;
    return 0;
}

static void prepare(AVCodecContext *avctx, void *asked)
{
    ck_assert(avctx->codec->capabilities & AV_CODEC_CAP_ABANDON);
    avctx->opaque = asked;
    avctx->abandon = note_question;
}

/* Returns which part of the decode of droppable pictures, from the first question on, lies behind the last one. */
static double share_behind_questions(const struct coded_stream *stream)
{
    AVCodecContext *avctx;
    AVFrame *frame = av_frame_alloc();
    struct asked asked;
    int64_t whole_ns = 0;
    int64_t behind_ns = 0;
    ck_assert_int_eq(stream_open_decoder(&avctx, stream, prepare, &asked), 0);
    for (size_t i = 0; i < stream->packet_count; i++) {
        asked = (struct asked){0};
        ck_assert_int_eq(stream_decode_packet(avctx, stream->packets[i], frame, NULL, NULL), 0);
        const int64_t end_ns = cpu_now_ns();
        whole_ns += asked.first_ns ? end_ns - asked.first_ns : 0;
        behind_ns += asked.last_ns ? end_ns - asked.last_ns : 0;
    }
    avcodec_free_context(&avctx);
    av_frame_free(&frame);
    return whole_ns ? (double)behind_ns / (double)whole_ns : 0;
}

/* Film grain is one piece, and comes behind its question. */
START_TEST(little_comes_behind_the_last_question)
{
    const struct gate_clip *const clip = &gate_clips[_i];
    struct coded_stream stream;
    char name[128];
    if (clip->damaged || clip->joined || clip->seek || clip->change || !strcmp(clip->codec, "av1") || !load(clip, &stream))
        return;
    const double share = share_behind_questions(&stream);
    const double most =
        (double)TAIL_ROWS / questions_needed(clip, stream.parameters->width, stream.parameters->height);
    printf("%s: %.3f of the decode comes behind the last question\n", gate_clip_describe(clip, name, sizeof(name)), share);
    ck_assert_msg(share <= most, "%s: %.3f, not %.3f", name, share, most);
    stream_finish(&stream);
}
END_TEST

int main(void)
{
    TCase *const tcase = tcase_create("questions");
    tcase_set_timeout(tcase, 0);
    setvbuf(stdout, NULL, _IOLBF, 0);
    tcase_add_loop_test(tcase, each_row_of_blocks_is_asked_about, 0, gate_clip_count);
    tcase_add_test(tcase, deblocking_behind_slice_threads_is_asked_about);
    tcase_add_test(tcase, loop_filter_of_vp9_behind_slice_threads_is_asked_about);
    tcase_add_test(tcase, film_grain_is_asked_about);
    tcase_add_test(tcase, small_coding_tree_units_are_not_all_asked_about);
    tcase_add_loop_test(tcase, little_comes_behind_the_last_question, 0, gate_clip_count);
    return suite_run_case("questions of decoders", tcase, CK_NOFORK);
}
