/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A picture that is given up must not affect any other: every other picture is the same as in an undisturbed decode with
 * the same threads. bench/gates has the clips and the comparison; `./dlex bench gates` does this for longer.
 *
 * Not covered: field pictures (test_fields.c); HEVC with columns of tiles or with several layers, and VP9 with references of
 * another size or with intra-only pictures, which no encoder of Debian's ffmpeg writes; how often decoders ask
 * (test_questions.c); the cost of the gate (bench/decode).
 *
 * With the jump, interruptions use real timers, so the interrupted pictures differ from run to run. The tests check only
 * what must be true for all of them.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gate_clips.h"
#include "hevc_tiles.h"
#include "made_streams.h"
#include "suite.h"

enum {
    INTERRUPTIONS_PER_MODE = 12, /* of a clip; together far more than the 200 of a codec that are wanted */
    WITHHELD_PER_MODE = 24,
    INTERRUPTIONS_PER_CODEC = 200,
    MOST_PASSES = 40,
    FILM_PACKETS = 100, /* decoded of the film */
    CODECS_MAX = 8,
    EXIT_SKIPPED = 77,
};

static uint64_t base_seed;

/* What was interrupted of a codec, all modes together. */
static struct codec_count {
    const char *codec;
    int64_t interrupted;
} counts[CODECS_MAX];

static int64_t *count_of(const char *codec)
{
    int i = 0;
    while (counts[i].codec && strcmp(counts[i].codec, codec))
        i++;
    ck_assert_int_lt(i, CODECS_MAX);
    counts[i].codec = codec;
    return &counts[i].interrupted;
}

static void run_mode(const char *name, struct gate_storm *storm, bool is_plain)
{
    char mode[64];
    mode_name(storm->mode, mode, sizeof(mode));
    ck_assert_msg(gate_storm_run(storm) >= 0, "%s, %s cannot be decoded", name, mode);
    ck_assert_msg(!differences_count(&storm->differences), "%s, %s: %s", name, mode, storm->differences.first);
    ck_assert_msg((storm->droppable == 0) == is_plain, "%s, %s: %zu of %zu pictures are droppable", name, mode,
                  storm->droppable, storm->pictures);
    printf("%s, %s: %" PRId64 " interrupted, %" PRId64 " refused, %" PRId64 " compared\n", name, mode, storm->interrupted,
           storm->refused, storm->compared);
    if (storm->misplaces_captions)
        printf("%s, %s: without side data, which this libdav1d gives to other pictures\n", name, mode);
}

static int64_t run_modes(const struct gate_clip *clip, const char *name, const struct coded_stream *stream, int threads)
{
    struct decode_mode modes[GATE_MODES_MAX];
    const int mode_count = gate_modes(stream, threads, modes);
    int64_t given_up = 0;
    ck_assert_int_gt(mode_count, 1);
    for (int i = 0; i < mode_count; i++) {
        struct gate_storm storm = {
            .stream = stream,
            .mode = modes[i],
            .seek = gate_clip_seek(clip, stream),
            .comparison = clip->comparison,
            .is_whole = !clip->damaged && !clip->seek,
            .is_strict = !clip->damaged && !clip->seek,
            .seed = base_seed + (uint64_t)i,
            .wanted = modes[i].way == WAY_WITHHOLD ? WITHHELD_PER_MODE : INTERRUPTIONS_PER_MODE,
            .most_passes = MOST_PASSES,
        };
        run_mode(name, &storm, clip->plain);
        given_up += storm.mode.way == WAY_WITHHOLD ? storm.refused : storm.interrupted;
    }
    return given_up;
}

START_TEST(pictures_that_are_not_given_up_are_exact)
{
    const struct gate_clip *const clip = &gate_clips[_i];
    struct coded_stream stream;
    char name[128];
    const int loaded = gate_clip_load(clip, &stream);
    ck_assert_int_ge(loaded, 0);
    if (!loaded)
        return;
    *count_of(clip->codec) += run_modes(clip, gate_clip_describe(clip, name, sizeof(name)), &stream, 2 + _i % 3);
    stream_finish(&stream);
}
END_TEST

/* The real trailer in DLEX_MEDIA, which media/make does not make. */
START_TEST(pictures_of_the_film_that_are_not_given_up_are_exact)
{
    const struct gate_clip film = {.codec = "h264", .name = "the film", .comparison = COMPARE_ALL};
    struct coded_stream stream;
    char path[4096];
    const char *const folder = getenv("DLEX_MEDIA");
    snprintf(path, sizeof(path), "%s/bbb_trailer_720p.mp4", folder ? folder : "");
    if (!folder || access(path, R_OK)) {
        printf("without the film: it is not on this machine\n");
        return;
    }
    ck_assert_int_eq(stream_load(&stream, path, FILM_PACKETS), 0);
    run_modes(&film, film.name, &stream, 3);
    stream_finish(&stream);
}
END_TEST

static struct decode_pass decode_by(const struct coded_stream *stream, enum pass_policy policy)
{
    struct decode_pass pass = {.mode = {WAY_POLL, 1, FF_THREAD_FRAME}, .policy = policy};
    ck_assert_int_eq(pass_decode(&pass, stream), 0);
    ck_assert_uint_gt(pass.picture_count, 1);
    return pass;
}

/* FFmpeg outputs the VOP before the one that is not coded a second time. The copy belongs to another packet. */
START_TEST(copy_of_an_abandoned_last_vop_is_marked)
{
    const struct gate_clip clip = {.codec = "mpeg4", .name = "mpeg4_b"};
    struct coded_stream stream;
    struct coded_stream made;
    if (gate_clip_load(&clip, &stream) <= 0)
        return;
    ck_assert_int_eq(not_coded_end_stream(&made, &stream), 0);
    struct decode_pass whole = decode_by(&made, PASS_PLAIN);
    struct decode_pass refused = decode_by(&made, PASS_REFUSE);
    const size_t last = whole.picture_count - 1;
    ck_assert_uint_eq(refused.picture_count, whole.picture_count);
    ck_assert_int_eq(whole.pictures[last].packet, (int64_t)made.packet_count - 1);
    ck_assert_int_eq(whole.pictures[last].type, AV_PICTURE_TYPE_B);
    ck_assert(whole.pictures[last].droppable && !whole.pictures[last].abandoned);
    ck_assert(refused.pictures[last].abandoned);
    ck_assert(!refused.pictures[last - 1].abandoned);
    pass_finish(&refused);
    pass_finish(&whole);
    stream_finish(&made);
    stream_finish(&stream);
}
END_TEST

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

static void expect_tiles(const uint8_t *before, size_t before_size, int rows, const uint8_t *after, size_t after_size)
{
    AVPacket *packet = av_packet_alloc();
    ck_assert_int_eq(av_new_packet(packet, (int)before_size), 0);
    memcpy(packet->data, before, before_size);
    ck_assert_int_eq(add_tiles(packet, rows), 0);
    ck_assert_int_eq(packet->size, (int)after_size);
    ck_assert_mem_eq(packet->data, after, after_size);
    av_packet_free(&packet);
}

/* The picture parameter set begins with 44 01. */
START_TEST(tiles_are_written_into_the_picture_parameter_set)
{
    /* One of x265, between other units. Three rows. */
    expect_tiles(BYTES(0, 0, 0, 1, 0x42, 1, 7, 0, 0, 0, 1, 0x44, 1, 0xc0, 0x72, 0xb0, 0x42, 0x40, 0, 0, 0, 1, 0x26, 1, 0xac), 3,
                 BYTES(0, 0, 0, 1, 0x42, 1, 7, 0, 0, 0, 1, 0x44, 1, 0xc0, 0x72, 0xb0, 0xae, 0x09, 0, 0, 1, 0x26, 1, 0xac));
    /* A number of 43 bits, so that a 3 keeps a start code out; the loop filter crosses slices. Two rows. */
    expect_tiles(BYTES(0, 0, 1, 0x44, 1, 0xc0, 0, 0, 3, 2, 0, 0, 0x0c, 0x60, 0xc4, 0x80), 2,
                 BYTES(0, 0, 1, 0x44, 1, 0xc0, 0, 0, 3, 2, 0, 0, 0x0c, 0x61, 0x57, 0x12));
    expect_tiles(BYTES(0, 0, 1, 0x02, 1, 0xd0, 0x44, 1, 0xc0), 2, BYTES(0, 0, 1, 0x02, 1, 0xd0, 0x44, 1, 0xc0)); /* a slice */
}
END_TEST

START_TEST(tiles_change_no_picture)
{
    const struct gate_clip clip = {.codec = "hevc", .name = "hevc_rows"};
    struct coded_stream stream;
    struct coded_stream tiled;
    struct differences differences = {0};
    if (gate_clip_load(&clip, &stream) <= 0)
        return;
    ck_assert_int_eq(tiled_stream(&tiled, &stream), 0);
    struct decode_pass slices = {.mode = {WAY_POLL, 1, FF_THREAD_FRAME}, .policy = PASS_PLAIN, .is_strict = true};
    struct decode_pass tiles = slices;
    ck_assert_int_eq(pass_decode(&slices, &stream), 0);
    ck_assert_int_eq(pass_decode(&tiles, &tiled), 0);
    pass_compare(&differences, &slices, &tiles, COMPARE_ALL);
    ck_assert_msg(!differences_count(&differences), "%s", differences.first);
    ck_assert_uint_eq(tiles.picture_count, stream.packet_count);
    ck_assert_int_eq(tiles.rejected_count + tiles.log_count, 0);
    pass_finish(&tiles);
    pass_finish(&slices);
    stream_finish(&tiled);
    stream_finish(&stream);
}
END_TEST

/* If an encoder is not on this machine, some clips lack, and then perhaps a codec. */
START_TEST(enough_pictures_of_each_codec_were_interrupted)
{
    for (int i = 0; i < CODECS_MAX && counts[i].codec; i++) {
        printf("%s: %" PRId64 " interrupted\n", counts[i].codec, counts[i].interrupted);
        ck_assert_int_ge(counts[i].interrupted, INTERRUPTIONS_PER_CODEC);
    }
}
END_TEST

static TCase *gate_case(void)
{
    TCase *tcase = tcase_create("gate");
    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, pictures_that_are_not_given_up_are_exact, 0, gate_clip_count);
    tcase_add_test(tcase, pictures_of_the_film_that_are_not_given_up_are_exact);
    tcase_add_test(tcase, copy_of_an_abandoned_last_vop_is_marked);
    tcase_add_test(tcase, tiles_are_written_into_the_picture_parameter_set);
    tcase_add_test(tcase, tiles_change_no_picture);
    tcase_add_test(tcase, enough_pictures_of_each_codec_were_interrupted);
    return tcase;
}

int main(void)
{
    const char *given = getenv("DLEX_TEST_SEED");
    base_seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
    printf("DLEX_TEST_SEED=%" PRIu64 "\n", base_seed);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!gate_clips_can_be_made()) {
        printf("skipped: no clip can be made here\n");
        return EXIT_SKIPPED;
    }
    return suite_run_case("bit-exact after abort", gate_case(), CK_NOFORK);
}
