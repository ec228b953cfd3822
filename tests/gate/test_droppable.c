/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether a picture is droppable is known from its packet, before the decode. Here that is held against what the decoder
 * finds out.
 *
 * Not covered: field pictures (tests/fields).
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clip_path.h"
#include "damaged_stream.h"
#include "decode_pass.h"
#include "droppable.h"
#include "suite.h"

enum { MOST_PACKETS = 1000, PATH_SIZE = 4096 };

static const char *const clip_names[] = {
    "progressive_cabac", "cavlc", "mbaff", "multislice", "bpyramid", "non_pyramid", "truncated", "mpegts_h264",
    "trailer_1080p", "hevc_small", "mpeg4_small",
};
enum { CLIP_COUNT = sizeof(clip_names) / sizeof(*clip_names) };
enum { WITHOUT_GATE_FROM = CLIP_COUNT - 2 };

/* Returns false if the clip cannot be made on this machine. */
static bool load(struct coded_stream *stream, const char *name)
{
    char path[PATH_SIZE];
    const int missing = clip_path(path, sizeof(path), name);
    ck_assert_int_ge(missing, 0);
    if (missing) {
        printf("without %s: its source is not on this machine\n", name);
        return false;
    }
    ck_assert_int_eq(stream_load(stream, path, MOST_PACKETS), 0);
    return true;
}

static bool decoder_and_packet_agree(const struct coded_stream *stream, const struct fingerprint *picture)
{
    return packet_is_droppable(stream->parameters, stream->packets[picture->packet]) == picture->droppable;
}

START_TEST(packets_say_what_the_decoder_finds)
{
    struct coded_stream stream;
    struct decode_pass pass = {.policy = GATE_NONE};
    if (!load(&stream, clip_names[_i]))
        return;
    ck_assert_int_eq(pass_decode(&pass, &stream), 0);
    int droppable = 0;
    for (size_t i = 0; i < pass.picture_count; i++) {
        ck_assert_msg(decoder_and_packet_agree(&stream, &pass.pictures[i]), "%s, picture %zu", clip_names[_i], i);
        droppable += pass.pictures[i].droppable;
    }
    printf("%s: %d of %zu pictures are droppable\n", clip_names[_i], droppable, pass.picture_count);
    ck_assert_int_eq(droppable > 0, _i < WITHOUT_GATE_FROM);
    pass_finish(&pass);
    stream_finish(&stream);
}
END_TEST

/* A packet with wrong bytes can say anything, but it must not be read beyond its end. */
START_TEST(whole_packets_of_a_damaged_stream_say_what_the_decoder_finds)
{
    struct coded_stream stream;
    struct coded_stream damaged;
    struct decode_pass pass = {.policy = GATE_NONE};
    if (!load(&stream, clip_names[_i]))
        return;
    ck_assert_int_eq(damaged_stream(&damaged, &stream, 1), 0);
    ck_assert_int_eq(pass_decode(&pass, &damaged), 0);
    int disagreements = 0;
    for (size_t i = 0; i < pass.picture_count; i++) {
        const struct fingerprint *const picture = &pass.pictures[i];
        const bool agree = picture->packet < 0 || decoder_and_packet_agree(&damaged, picture);
        ck_assert_msg(agree || damaged_stream_changes((size_t)picture->packet), "%s, picture %zu", clip_names[_i], i);
        disagreements += !agree;
    }
    printf("%s, damaged: %d of %zu disagree\n", clip_names[_i], disagreements, pass.picture_count);
    pass_finish(&pass);
    stream_finish(&damaged);
    stream_finish(&stream);
}
END_TEST

static bool says_droppable(const uint8_t *bytes, int size, bool has_lengths)
{
    static uint8_t configuration[] = {1, 77, 0, 41, 0xff, 0, 0};
    const AVCodecParameters stream = {
        .codec_id = AV_CODEC_ID_H264,
        .extradata = has_lengths ? configuration : NULL,
        .extradata_size = has_lengths ? sizeof(configuration) : 0,
    };
    uint8_t *const exact = malloc((size_t)size); /* so that a read beyond the end is seen */
    for (int i = 0; i < size; i++)
        exact[i] = bytes[i];
    const AVPacket packet = {.data = exact, .size = size};
    const bool droppable = packet_is_droppable(&stream, &packet);
    free(exact);
    return droppable;
}

#define SAYS_DROPPABLE(has_lengths, ...) \
    says_droppable((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), has_lengths)

START_TEST(headers_are_read_as_far_as_the_packet_goes)
{
    ck_assert(SAYS_DROPPABLE(false, 0, 0, 1, 0x01, 0x9a));
    ck_assert(SAYS_DROPPABLE(false, 0, 0, 0, 1, 0x09, 0x30, 0, 0, 1, 0x01, 0x9a)); /* a delimiter before it */
    ck_assert(!SAYS_DROPPABLE(false, 0, 0, 1, 0x41, 0x9a));
    ck_assert(!SAYS_DROPPABLE(false, 0, 0, 1, 0x01, 0x9a, 0, 0, 1, 0x41, 0x9a)); /* one slice is a reference */
    ck_assert(!SAYS_DROPPABLE(false, 0, 0, 1, 0x06, 0x05)); /* no slice at all */
    ck_assert(!SAYS_DROPPABLE(false, 0, 0, 1));
    ck_assert(SAYS_DROPPABLE(true, 0, 0, 0, 2, 0x01, 0x9a));
    ck_assert(!SAYS_DROPPABLE(true, 0, 0, 0, 2, 0x41, 0x9a));
    ck_assert(!SAYS_DROPPABLE(true, 0, 0, 0, 2, 0x01, 0x9a, 0, 0, 0, 2, 0x65, 0x88));
    ck_assert(SAYS_DROPPABLE(true, 0xff, 0xff, 0xff, 0xff, 0x01)); /* longer than the packet */
    ck_assert(!SAYS_DROPPABLE(true, 0, 0, 0, 2));
    ck_assert(!SAYS_DROPPABLE(true, 0));
}
END_TEST

int main(void)
{
    TCase *const tcase = tcase_create("droppable");
    tcase_set_timeout(tcase, 0);
    setvbuf(stdout, NULL, _IOLBF, 0);
    tcase_add_test(tcase, headers_are_read_as_far_as_the_packet_goes);
    tcase_add_loop_test(tcase, packets_say_what_the_decoder_finds, 0, CLIP_COUNT);
    tcase_add_loop_test(tcase, whole_packets_of_a_damaged_stream_say_what_the_decoder_finds, 0, CLIP_COUNT);
    return suite_run_case("droppable packets", tcase, CK_NOFORK);
}
