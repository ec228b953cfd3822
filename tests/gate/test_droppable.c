/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether a picture is droppable is known from its packet, before the decode. Here that is held against what the decoder
 * finds out. libdav1d finds out nothing: for AV1, test_bit_exact.c withholds what the packets say, and misses nothing.
 *
 * Not covered: field pictures (tests/fields).
 *
 * DLEX_TEST_MUTATIONS is the number of packets of each codec that are mutated (2000).
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clip_path.h"
#include "droppable.h"
#include "gate_clips.h"
#include "made_streams.h"
#include "suite.h"

enum { BYTES_PER_PASS = 45, MUTATED_THREADS = 3, PATH_SIZE = 4096 };

static const char *const codecs[] = {"h264", "hevc", "mpeg12", "mpeg4", "vp8", "vp9", "av1"};
enum { CODEC_COUNT = sizeof(codecs) / sizeof(*codecs) };

struct mutated_count {
    int mutations;
    int pictures;
    int agreed; /* of the pictures: as droppable as their packets say */
};

/* Not in gate_clips: larger clips, cut off or in a transport stream. */
static const char *const other_clips[] = {"truncated", "mpegts_h264", "trailer_1080p"};
enum { OTHER_COUNT = sizeof(other_clips) / sizeof(*other_clips), OTHER_PACKETS = 200 };

/* What the headers of each packet say. The caller frees it. */
static bool *read_headers(const struct coded_stream *stream)
{
    bool *const verdicts = calloc(stream->packet_count, sizeof *verdicts);
    struct droppable droppable;
    droppable_init(&droppable, stream->parameters);
    for (size_t i = 0; i < stream->packet_count; i++)
        verdicts[i] = droppable_packet(&droppable, stream->packets[i]);
    return verdicts;
}

/* Compares the verdicts about whole packets. Returns how many pictures are droppable. */
static int expect_same_verdicts(const char *name, const struct coded_stream *stream, bool is_damaged)
{
    struct decode_pass pass = {.mode = {WAY_POLL, 1, FF_THREAD_FRAME}, .policy = PASS_PLAIN};
    bool *const verdicts = read_headers(stream);
    int droppable = 0;
    ck_assert_int_eq(pass_decode(&pass, stream), 0);
    for (size_t i = 0; i < pass.picture_count; i++) {
        const struct fingerprint *const picture = &pass.pictures[i];
        droppable += picture->droppable;
        if (picture->packet < 0 || (is_damaged && damaged_stream_changes((size_t)picture->packet)))
            continue; /* a packet with wrong bytes can say anything */
        ck_assert_msg(verdicts[picture->packet] == picture->droppable, "%s, picture %zu, packet %" PRId64
                      ": the packet says %d", name, i, picture->packet, verdicts[picture->packet]);
    }
    pass_finish(&pass);
    free(verdicts);
    return droppable;
}

START_TEST(packets_say_what_the_decoder_finds)
{
    const struct gate_clip *const clip = &gate_clips[_i];
    struct coded_stream stream;
    char name[128];
    const int loaded = gate_clip_load(clip, &stream);
    ck_assert_int_ge(loaded, 0);
    if (!loaded)
        return;
    if (strcmp(clip->codec, "av1")) {
        const int droppable = expect_same_verdicts(gate_clip_describe(clip, name, sizeof name), &stream, clip->damaged);
        ck_assert_int_eq(droppable == 0, clip->plain);
    }
    stream_finish(&stream);
}
END_TEST

START_TEST(packets_of_other_clips_say_what_the_decoder_finds)
{
    struct coded_stream stream;
    char path[PATH_SIZE];
    const int missing = clip_path(path, sizeof path, other_clips[_i]);
    ck_assert_int_ge(missing, 0);
    if (missing)
        return;
    ck_assert_int_eq(stream_load(&stream, path, OTHER_PACKETS), 0);
    ck_assert_int_gt(expect_same_verdicts(other_clips[_i], &stream, false), 0);
    stream_finish(&stream);
}
END_TEST

/* Reads packets with wrong bits as a player would; what they say means nothing, but they must not be read beyond. */
static void read_mutated_headers(const struct coded_stream *stream, int mutations)
{
    uint64_t random = 1;
    struct droppable droppable;
    droppable_init(&droppable, stream->parameters);
    for (int i = 0; i < mutations; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        AVPacket *packet = av_packet_clone(stream->packets[(size_t)i % stream->packet_count]);
        ck_assert_int_ge(mutate_packet(packet, random >> 16), 0);
        droppable_packet(&droppable, packet);
        packet->size = (int)(random >> 33) % packet->size; /* cut off */
        droppable_packet(&droppable, packet);
        av_packet_free(&packet);
    }
}

static int mutations_per_codec(void)
{
    const char *const text = getenv("DLEX_TEST_MUTATIONS");
    return text ? atoi(text) : 2000;
}

static bool is_mutated(const struct gate_clip *clip)
{
    return !clip->damaged && !clip->joined && !clip->seek && !clip->change;
}

/* Returns how many bytes of the clip are mutated, so that all clips of its codec together have enough. */
static int mutations_of(const struct gate_clip *clip)
{
    int clips = 0;
    for (int i = 0; i < gate_clip_count; i++)
        clips += is_mutated(&gate_clips[i]) && !strcmp(gate_clips[i].codec, clip->codec);
    return mutations_per_codec() / clips + BYTES_PER_PASS;
}

/* Decodes streams with wrong bytes. Whole packets between the damaged ones still say what the decoder finds. */
START_TEST(whole_packets_of_damaged_streams_say_what_the_decoder_finds)
{
    const struct gate_clip *const clip = &gate_clips[_i];
    struct coded_stream stream;
    char name[128];
    if (!is_mutated(clip) || gate_clip_load(clip, &stream) <= 0)
        return;
    read_mutated_headers(&stream, mutations_of(clip));
    for (int i = 0; strcmp(clip->codec, "av1") && i < mutations_of(clip) / BYTES_PER_PASS; i++) {
        struct coded_stream damaged;
        ck_assert_int_eq(damaged_stream(&damaged, &stream, (uint64_t)i), 0);
        expect_same_verdicts(gate_clip_describe(clip, name, sizeof name), &damaged, true);
        stream_finish(&damaged);
    }
    stream_finish(&stream);
}
END_TEST

/* Decodes mutated packets, also those with wrong headers, and gives up whatever the decoder asks about. */
static void decode_mutated(const struct coded_stream *stream, uint64_t seed, struct decode_mode mode, struct mutated_count *count)
{
    struct coded_stream made;
    struct decode_pass pass = {.mode = mode, .policy = PASS_REFUSE};
    ck_assert_int_eq(mutated_stream(&made, stream, seed, &count->mutations), 0);
    bool *const verdicts = read_headers(&made);
    pass_decode(&pass, &made); /* libdav1d may end at a wrong packet */
    ck_assert_int_eq(pass.stray_count, 0);
    for (size_t i = 0; i < pass.picture_count; i++) {
        const struct fingerprint *const picture = &pass.pictures[i];
        count->pictures += picture->packet >= 0;
        count->agreed += picture->packet >= 0 && verdicts[picture->packet] == picture->droppable;
        ck_assert(picture->droppable || !picture->abandoned);
    }
    pass_finish(&pass);
    free(verdicts);
    stream_finish(&made);
}

/* A packet with wrong bits may call itself droppable, but the decoder gives up nothing that it does not find droppable itself. */
START_TEST(mutated_packets_of_each_codec_are_decoded_without_harm)
{
    const char *const codec = codecs[_i];
    struct mutated_count count = {0};
    for (uint64_t seed = 1; count.mutations < mutations_per_codec(); seed++) {
        const int before = count.mutations;
        for (int i = 0; i < gate_clip_count; i++) {
            struct coded_stream stream;
            if (strcmp(gate_clips[i].codec, codec) || !is_mutated(&gate_clips[i]) || gate_clip_load(&gate_clips[i], &stream) <= 0)
                continue;
            struct decode_mode modes[GATE_MODES_MAX];
            const int known = gate_modes(&stream, MUTATED_THREADS, modes);
            for (int j = 0; j < known; j++)
                decode_mutated(&stream, seed, modes[j], &count);
            stream_finish(&stream);
        }
        if (count.mutations == before)
            return; /* no clip of this codec can be made on this machine */
    }
    /* A few say something else: a slice that the decoder rejects makes no picture a reference. */
    ck_assert_int_gt(count.agreed, count.pictures - count.pictures / 100);
    printf("%s: %d mutated packets, %d of %d pictures as their packets say\n", codec, count.mutations, count.agreed, count.pictures);
}
END_TEST

/* -- headers by hand ------------------------------------------------------------------------------------------- */

static bool says_droppable(enum AVCodecID codec, const uint8_t *configuration, size_t configuration_size,
                           const uint8_t *bytes, size_t size)
{
    AVCodecParameters *stream = avcodec_parameters_alloc();
    stream->codec_id = codec;
    stream->extradata = av_mallocz(configuration_size + AV_INPUT_BUFFER_PADDING_SIZE);
    stream->extradata_size = (int)configuration_size;
    memcpy(stream->extradata, configuration, configuration_size);
    uint8_t *const exact = malloc(size); /* so that a read beyond the end is seen */
    memcpy(exact, bytes, size);
    AVPacket *packet = av_packet_alloc();
    packet->data = exact;
    packet->size = (int)size;
    struct droppable droppable;
    droppable_init(&droppable, stream);
    const bool verdict = droppable_packet(&droppable, packet);
    av_packet_free(&packet);
    free(exact);
    avcodec_parameters_free(&stream);
    return verdict;
}

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})
#define NONE BYTES(0), /* no configuration begins with 0 */
#define AVCC BYTES(1, 77, 0, 41, 0xff, 0, 0),
#define H264_SAYS_DROPPABLE(configuration, ...) says_droppable(AV_CODEC_ID_H264, configuration BYTES(__VA_ARGS__))
#define HEVC_SAYS_DROPPABLE(...) says_droppable(AV_CODEC_ID_HEVC, NONE BYTES(__VA_ARGS__))
#define SAYS_DROPPABLE(codec, ...) says_droppable(AV_CODEC_ID_##codec, NONE BYTES(__VA_ARGS__))

START_TEST(h264_headers_are_read_as_far_as_the_packet_goes)
{
    ck_assert(H264_SAYS_DROPPABLE(NONE, 0, 0, 1, 0x01, 0x9a));
    ck_assert(H264_SAYS_DROPPABLE(NONE, 0, 0, 0, 1, 0x09, 0x30, 0, 0, 1, 0x01, 0x9a)); /* a delimiter before it */
    ck_assert(!H264_SAYS_DROPPABLE(NONE, 0, 0, 1, 0x41, 0x9a));
    ck_assert(!H264_SAYS_DROPPABLE(NONE, 0, 0, 1, 0x01, 0x9a, 0, 0, 1, 0x41, 0x9a)); /* one slice is a reference */
    ck_assert(!H264_SAYS_DROPPABLE(NONE, 0, 0, 1, 0x06, 0x05)); /* no slice at all */
    ck_assert(!H264_SAYS_DROPPABLE(NONE, 0, 0, 1));
    ck_assert(H264_SAYS_DROPPABLE(AVCC, 0, 0, 0, 2, 0x01, 0x9a));
    ck_assert(!H264_SAYS_DROPPABLE(AVCC, 0, 0, 0, 2, 0x41, 0x9a));
    ck_assert(!H264_SAYS_DROPPABLE(AVCC, 0, 0, 0, 2, 0x01, 0x9a, 0, 0, 0, 2, 0x65, 0x88));
    ck_assert(H264_SAYS_DROPPABLE(AVCC, 0xff, 0xff, 0xff, 0xff, 0x01)); /* longer than the packet */
    ck_assert(!H264_SAYS_DROPPABLE(AVCC, 0, 0, 0, 2));
    ck_assert(!H264_SAYS_DROPPABLE(AVCC, 0));
    ck_assert(!H264_SAYS_DROPPABLE(NONE, 0, 0, 1, 0x02, 0x9a)); /* a partitioned slice, which is not decoded */
}
END_TEST

START_TEST(h264_packets_with_lengths_or_start_codes_are_recognised)
{
    ck_assert(H264_SAYS_DROPPABLE(AVCC, 0, 0, 0, 1, 0x09, 0x30, 1, 2, 0, 0, 1, 0x01, 0x9a));
    static const uint8_t lengths[] = {1, 77, 0, 41, 0xff, 0, 0};
    static const uint8_t start_codes[] = {0, 0, 1, 0x68, 0xee};
    static const uint8_t packet[] = {0, 0, 0, 2, 0x01, 0x9a};
    const struct bytes bytes = {packet, packet + sizeof packet};
    struct nal_state state = {.codec = AV_CODEC_ID_H264};
    nal_configure(&state, (struct bytes){start_codes, start_codes + sizeof start_codes});
    ck_assert(!nal_look_at_packet(&state, bytes).droppable);
    nal_configure(&state, (struct bytes){lengths, lengths + sizeof lengths});
    nal_configure(&state, (struct bytes){start_codes, start_codes + sizeof start_codes});
    ck_assert(nal_look_at_packet(&state, bytes).droppable);
}
END_TEST

/* Returns how many reference pictures an H.264 packet with this message of supplemental information needs. */
static int gradual(const uint8_t *unit, size_t size)
{
    const struct bytes packet = {unit, unit + size};
    struct nal_state state = {.codec = AV_CODEC_ID_H264};
    return nal_look_at_packet(&state, packet).gradual;
}

START_TEST(h264_recovery_points_that_take_pictures_are_told_from_those_that_do_not)
{
    ck_assert_int_eq(gradual(BYTES(0, 0, 1, 0x06, 6, 1, 0x24, 0x80)), 3);
    ck_assert(!gradual(BYTES(0, 0, 1, 0x06, 6, 1, 0xc4, 0x80)));
    ck_assert(gradual(BYTES(0, 0, 1, 0x06, 6, 1, 0x24, 0x80, 0, 0, 1, 0x65, 0x88)));
    ck_assert(!gradual(BYTES(0, 0, 1, 0x06, 5, 2, 6, 1, 0x80, 0, 0, 1, 0x41, 6, 1, 0x24))); /* another message */
    ck_assert(gradual(BYTES(0, 0, 1, 0x06, 5, 2, 6, 1, 6, 1, 0x24, 0x80))); /* the second message */
    ck_assert(gradual(BYTES(0, 0, 1, 0x06, 5, 3, 0, 0, 3, 1, 6, 1, 0x24, 0x80))); /* a 3 that is not counted */
    ck_assert_int_eq(gradual(BYTES(0, 0, 1, 0x06, 6, 2, 0x15, 0x10, 0x80)), 9);
    ck_assert_int_eq(gradual(BYTES(0, 0, 1, 0x06, 6, 4, 0, 0x7f, 0xff, 0x90, 0x80)), 1022);
    ck_assert_int_gt(gradual(BYTES(0, 0, 1, 0x06, 6, 5, 0, 0, 0, 0, 0, 0x80)), 65534); /* too long a code */
    ck_assert(!gradual(BYTES(0, 0, 1, 0x06, 6, 1)));
    ck_assert(!gradual(BYTES(0, 0, 1, 0x06, 0xff, 0xff)));
}
END_TEST

/* Returns the build of x264 that a message of user data with this text names. */
static int x264_build(const char *text)
{
    uint8_t packet[128] = {0, 0, 1, 0x06, 5, (uint8_t)(16 + strlen(text))};
    memset(packet + 6, 0xdc, 16); /* FFmpeg does not look at the UUID */
    memcpy(packet + 22, text, strlen(text));
    packet[22 + strlen(text)] = 0x80;
    struct nal_state state = {.codec = AV_CODEC_ID_H264};
    nal_look_at_packet(&state, (struct bytes){packet, packet + 23 + strlen(text)});
    return state.x264_build;
}

START_TEST(h264_user_data_names_the_build_of_x264)
{
    ck_assert_int_eq(x264_build("x264 - core 150 r2833 - H.264/MPEG-4 AVC codec"), 150);
    ck_assert_int_eq(x264_build("x264 - core 164"), 164);
    ck_assert_int_eq(x264_build("x264 - core 0000"), 0);
    ck_assert_int_eq(x264_build("x264 - core 00001"), 67); /* as FFmpeg reads it */
    ck_assert_int_eq(x264_build("x264 - core -3"), 0);
    ck_assert_int_eq(x264_build("another - core 150"), 0);
    ck_assert_int_eq(x264_build(""), 0);
}
END_TEST

START_TEST(hevc_pictures_of_the_highest_sub_layer_are_droppable)
{
    ck_assert(HEVC_SAYS_DROPPABLE(0, 0, 1, 0x00, 0x01, 0x80));  /* TRAIL_N */
    ck_assert(HEVC_SAYS_DROPPABLE(0, 0, 1, 0x10, 0x01, 0x80));  /* RASL_N */
    ck_assert(!HEVC_SAYS_DROPPABLE(0, 0, 1, 0x02, 0x01, 0x80)); /* TRAIL_R */
    ck_assert(!HEVC_SAYS_DROPPABLE(0, 0, 1, 0x26, 0x01, 0x80)); /* IDR */
    ck_assert(!HEVC_SAYS_DROPPABLE(0, 0, 1, 0x00, 0x02, 0x80)); /* TRAIL_N of a sub-layer that does not exist */
    ck_assert(!HEVC_SAYS_DROPPABLE(0, 0, 1, 0x42, 0x01, 0x03, 0, 0, 1, 0x00, 0x01, 0x80)); /* there are two sub-layers */
    ck_assert(HEVC_SAYS_DROPPABLE(0, 0, 1, 0x42, 0x01, 0x03, 0, 0, 1, 0x00, 0x02, 0x80));
    ck_assert(HEVC_SAYS_DROPPABLE(0, 0, 1, 0x00, 0x01, 0x80, 0, 0, 1, 0x02, 0x09, 0x80)); /* another view */
    ck_assert(!HEVC_SAYS_DROPPABLE(0, 0, 1, 0x00, 0x01, 0x80, 0, 0, 1, 0x02, 0x01, 0x80)); /* one slice is a reference */
    ck_assert(!HEVC_SAYS_DROPPABLE(0, 0, 1, 0x00));
    ck_assert(!HEVC_SAYS_DROPPABLE(0, 0, 1, 0x14, 0x01, 0x80)); /* a reserved type, no slice */
    ck_assert(HEVC_SAYS_DROPPABLE(0, 0, 1, 0x00, 0x01, 0x80, 0, 0, 1, 0x2c, 0x01, 0x80)); /* a reserved type beside TRAIL_N */
}
END_TEST

START_TEST(mpeg_b_pictures_are_droppable)
{
    ck_assert(SAYS_DROPPABLE(MPEG2VIDEO, 0, 0, 1, 0x00, 0x00, 0x18));
    ck_assert(!SAYS_DROPPABLE(MPEG2VIDEO, 0, 0, 1, 0x00, 0x00, 0x10));
    ck_assert(!SAYS_DROPPABLE(MPEG2VIDEO, 0, 0, 1, 0x00, 0x00));
    ck_assert(SAYS_DROPPABLE(MPEG1VIDEO, 0, 0, 1, 0xb8, 0x12, 0, 0, 1, 0x00, 0x00, 0x18)); /* a group before it */
    ck_assert(SAYS_DROPPABLE(MPEG4, 0, 0, 1, 0xb6, 0x80));
    ck_assert(!SAYS_DROPPABLE(MPEG4, 0, 0, 1, 0xb6, 0x40));
    ck_assert(!SAYS_DROPPABLE(MPEG4, 0, 0, 1, 0xb6));
}
END_TEST

/* Says for each of the packets, one after the other, what a packed bitstream says. */
START_TEST(packed_b_vop_belongs_to_the_next_packet)
{
    static const uint8_t first[] = {
        0, 0, 1, 0xb2, 'D', 'i', 'v', 'X', '5', '0', '3', 'b', '1', '3', '9', '3', 'p', 0, 0, 1, 0xb6, 0x00, 1, 2, 3, 4};
    static const uint8_t pair[] = {0, 0, 1, 0xb6, 0x40, 1, 2, 3, 0, 0, 1, 0xb6, 0x80, 1, 2, 3};
    static const uint8_t empty[] = {0, 0, 1, 0xb6, 0x51, 0x7f};
    const struct bytes packets[] = {
        {first, first + sizeof first}, {pair, pair + sizeof pair}, {empty, empty + sizeof empty},
        {pair, pair + sizeof pair}, {pair, pair + sizeof pair}};
    struct mpeg_state state = {.codec = AV_CODEC_ID_MPEG4};
    ck_assert(!mpeg_packet_is_droppable(&state, packets[0]));
    ck_assert(!mpeg_packet_is_droppable(&state, packets[1]));
    ck_assert(mpeg_packet_is_droppable(&state, packets[2])); /* the B-VOP of the pair */
    ck_assert(!mpeg_packet_is_droppable(&state, packets[2])); /* without one before */
    ck_assert(!mpeg_packet_is_droppable(&state, packets[3]));
    mpeg_flush(&state);
    ck_assert(!mpeg_packet_is_droppable(&state, packets[4]));
}
END_TEST

START_TEST(vp9_shown_frames_that_refresh_no_slot_are_droppable)
{
    ck_assert(SAYS_DROPPABLE(VP9, 0x86, 0x00, 0x00));        /* 10 00 0 1 1 0, reset 00, refresh 00000000 */
    ck_assert(!SAYS_DROPPABLE(VP9, 0x86, 0x00, 0x40));       /* the last slot */
    ck_assert(SAYS_DROPPABLE(VP9, 0x87, 0x00));              /* error resilient: no reset */
    ck_assert(!SAYS_DROPPABLE(VP9, 0x84, 0x00, 0x00));       /* hidden */
    ck_assert(!SAYS_DROPPABLE(VP9, 0x82, 0x49, 0x83, 0x42)); /* a key frame */
    ck_assert(!SAYS_DROPPABLE(VP9, 0x88));                   /* one that was decoded before */
    ck_assert(!SAYS_DROPPABLE(VP9, 0x86, 0x00));             /* cut off */
    /* A hidden frame of two bytes and a shown one of three. */
    ck_assert(SAYS_DROPPABLE(VP9, 0x84, 0x55, 0x86, 0x00, 0x00, 0xc1, 2, 3, 0xc1));
}
END_TEST

/* A reduced still picture's sequence header would make every frame a key frame; so a whole one: no timing, one operating
 * point (level 0), 1 + 1 bits of size, no ids, no order hints, no screen content. */
#define SEQUENCE_HEADER(layers) 0x0a, 0x08, 0, (layers) >> 8, (layers) & 0xff, 0, 0, 0, 0, 0
#define HIDDEN 0x32, 0x04, 0x28, 0x1f, 0xe0, 0x00 /* refreshes all slots */
#define SHOWN 0x32, 0x04, 0x30, 0x00, 0x00, 0x00
#define LIGHT 0x2a, 0x06, 1, 0x03, 0xe8, 0x01, 0x90, 0x80 /* metadata that stays in force */
#define CAPTION 0x2a, 0x04, 4, 0xb5, 0x00, 0x80           /* metadata of one picture */

static struct av1_shown look_at_av1(const uint8_t *unit, size_t size)
{
    struct av1_sequence sequence = {0};
    return av1_look_at_unit(&sequence, (struct bytes){unit, unit + size});
}

START_TEST(av1_shown_frame_is_found_behind_a_hidden_one)
{
    const struct av1_shown found = look_at_av1(BYTES(SEQUENCE_HEADER(0), HIDDEN, SHOWN));
    ck_assert(found.droppable);
    ck_assert_uint_eq(found.at, 16);
    ck_assert_uint_eq(found.size, 6);
    ck_assert(!look_at_av1(BYTES(SEQUENCE_HEADER(0), HIDDEN)).droppable);
    ck_assert(!look_at_av1(BYTES(SHOWN)).droppable); /* the sequence header is missing */
    static const uint8_t unit[] = {SEQUENCE_HEADER(0), SHOWN};
    ck_assert(look_at_av1(unit, sizeof unit).droppable);
    ck_assert(!look_at_av1(unit, sizeof unit - 1).droppable); /* cut off */
}
END_TEST

START_TEST(av1_frames_of_a_stream_with_spatial_layers_are_not_droppable)
{
    ck_assert(look_at_av1(BYTES(SEQUENCE_HEADER(0x103), SHOWN)).droppable); /* two temporal layers */
    ck_assert(!look_at_av1(BYTES(SEQUENCE_HEADER(0x301), SHOWN)).droppable);
}
END_TEST

START_TEST(av1_metadata_of_one_picture_is_withheld_with_it)
{
    static const uint8_t unit[] = {SEQUENCE_HEADER(0), LIGHT, CAPTION, HIDDEN, CAPTION, SHOWN, CAPTION};
    static const uint8_t expected[] = {SEQUENCE_HEADER(0), LIGHT, HIDDEN, CAPTION}; /* the last one is the next picture's */
    uint8_t rest[sizeof unit];
    const struct av1_shown shown = look_at_av1(unit, sizeof unit);
    ck_assert(shown.droppable);
    ck_assert_uint_eq(av1_copy_rest(rest, (struct bytes){unit, unit + sizeof unit}, &shown), sizeof expected);
    ck_assert_mem_eq(rest, expected, sizeof expected);
}
END_TEST

int main(void)
{
    TCase *const tcase = tcase_create("droppable");
    tcase_set_timeout(tcase, 0);
    setvbuf(stdout, NULL, _IOLBF, 0);
    tcase_add_test(tcase, h264_headers_are_read_as_far_as_the_packet_goes);
    tcase_add_test(tcase, h264_recovery_points_that_take_pictures_are_told_from_those_that_do_not);
    tcase_add_test(tcase, h264_user_data_names_the_build_of_x264);
    tcase_add_test(tcase, h264_packets_with_lengths_or_start_codes_are_recognised);
    tcase_add_test(tcase, hevc_pictures_of_the_highest_sub_layer_are_droppable);
    tcase_add_test(tcase, mpeg_b_pictures_are_droppable);
    tcase_add_test(tcase, packed_b_vop_belongs_to_the_next_packet);
    tcase_add_test(tcase, vp9_shown_frames_that_refresh_no_slot_are_droppable);
    tcase_add_test(tcase, av1_shown_frame_is_found_behind_a_hidden_one);
    tcase_add_test(tcase, av1_frames_of_a_stream_with_spatial_layers_are_not_droppable);
    tcase_add_test(tcase, av1_metadata_of_one_picture_is_withheld_with_it);
    tcase_add_loop_test(tcase, packets_say_what_the_decoder_finds, 0, gate_clip_count);
    tcase_add_loop_test(tcase, packets_of_other_clips_say_what_the_decoder_finds, 0, OTHER_COUNT);
    tcase_add_loop_test(tcase, mutated_packets_of_each_codec_are_decoded_without_harm, 0, CODEC_COUNT);
    tcase_add_loop_test(tcase, whole_packets_of_damaged_streams_say_what_the_decoder_finds, 0, gate_clip_count);
    return suite_run_case("droppable packets", tcase, CK_NOFORK);
}
