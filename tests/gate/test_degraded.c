/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decodes in which loop filters are left out: exactly the pictures differ that may (drift.h), with one thread and with frame
 * threads. Not covered: fields in packets of their own (H.264), which share a row of the record; what is saved (see
 * docs/laboratory.md); codecs whose loop filter is not separate (degrading_others_changes_nothing has some).
 */
#include "decoder.h"
#include "drift.h"
#include "droppable.h"

#include <check.h>
#include <inttypes.h>
#include <libavutil/mem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate_clips.h"
#include "look_ahead.h"
#include "suite.h"

enum { NAME_SIZE = 128, THREADS = 3, EXIT_SKIPPED = 77, CODECS = 3, PART = 4 };

static const char *const codecs[CODECS] = {"h264", "hevc", "vp8"};

/* Pictures that differed, of each codec. */
static struct differing {
    int64_t all;
    int64_t references; /* that were degraded themselves */
} differing[CODECS];

/* What came out of a decode, by packet. */
struct result {
    struct picture_hash *hashes;
    bool *out;
};

/* What the headers say of each packet, and what is ordered. */
struct plan {
    enum picture_class *classes;
    bool *degrade;
};

typedef bool is_degraded_fn(const struct plan *plan, size_t i, size_t count);

static bool droppable_ones(const struct plan *plan, size_t i, size_t count)
{
    (void)count;
    return plan->classes[i] == CLASS_DROPPABLE;
}

/* From a quarter of the stream on, all pictures before the next key picture but one. */
static bool some_groups(const struct plan *plan, size_t i, size_t count)
{
    int keys = 0;
    for (size_t at = count / PART; at <= i; at++)
        keys += plan->classes[at] == CLASS_KEY;
    return i >= count / PART && keys < 2;
}

static bool every_fifth(const struct plan *plan, size_t i, size_t count)
{
    (void)plan;
    (void)count;
    return i % 5 == 4;
}

static is_degraded_fn *const choices[] = {droppable_ones, some_groups, every_fifth};

static void take(struct decoder *decoder, struct result *result)
{
    AVFrame *frame = av_frame_alloc();
    struct taken_picture taken;
    while (decoder_take(decoder, frame, &taken)) {
        ck_assert_int_ge(taken.number, 0);
        result->out[taken.number] = true;
        ck_assert_int_eq(picture_hash(frame, &result->hashes[taken.number]), 0);
        av_frame_unref(frame);
    }
    av_frame_free(&frame);
}

static void decode_packets(struct decoder *decoder, const struct coded_stream *stream, const bool *degrade, struct result *result)
{
    struct decode_outcome outcome;
    for (size_t i = 0; i < stream->packet_count; i++) {
        const struct decode_job job = {.packet = stream->packets[i], .number = (int64_t)i,
                                       .order = {.deadline_ns = NO_DEADLINE, .degrade = degrade && degrade[i]}};
        decoder_run(decoder, &job, &outcome);
        take(decoder, result);
    }
    const struct decode_job drain = {.order = {.deadline_ns = NO_DEADLINE}};
    while (decoder_run(decoder, &drain, &outcome) != AVERROR_EOF)
        take(decoder, result);
    take(decoder, result);
}

/* degrade: for each packet; NULL: none. Returns what came out, and whether the decoder can degrade. */
static struct result decode(const struct coded_stream *stream, int threads, const bool *degrade, bool *can)
{
    struct result result = {av_calloc(stream->packet_count, sizeof *result.hashes), av_calloc(stream->packet_count, sizeof(bool))};
    const struct decoder_settings settings = {.threads = threads};
    struct decoder *decoder;
    char why[NAME_SIZE];
    AVFormatContext *format = avformat_alloc_context();
    AVStream *const video = avformat_new_stream(format, NULL);
    ck_assert_int_ge(avcodec_parameters_copy(video->codecpar, stream->parameters), 0);
    video->time_base = (AVRational){1, 90000};
    ck_assert_msg(decoder_open(&decoder, video, &settings, why, sizeof why) == 0, "%s", why);
    *can = decoder_can_degrade(decoder);
    decode_packets(decoder, stream, degrade, &result);
    decoder_close(&decoder);
    avformat_free_context(format);
    return result;
}

static void result_finish(struct result *result)
{
    av_freep(&result->hashes);
    av_freep(&result->out);
}

static bool is_same(const struct result *a, const struct result *b, size_t i)
{
    return !a->out[i] || !memcmp(a->hashes[i].samples, b->hashes[i].samples, sizeof a->hashes[i].samples);
}

static void find_classes(const struct coded_stream *stream, struct plan *plan)
{
    struct droppable droppable;
    droppable_init(&droppable, stream->parameters);
    int64_t before = 0;
    for (size_t i = 0; i < stream->packet_count; i++) {
        const AVPacket *const packet = stream->packets[i];
        const struct packet_glance glance = {
            .pts_ns = packet->pts,
            .droppable = droppable_packet(&droppable, packet),
            .key = packet->flags & AV_PKT_FLAG_KEY && !droppable.gradual,
        };
        plan->classes[i] = look_ahead_class(&glance, before);
        before = packet->pts;
    }
}

/* Expects that no picture differs that may not, and counts those that do. */
static struct differing compare(const char *name, const struct coded_stream *stream, const struct plan *plan,
                                const struct result *whole, const struct result *found)
{
    struct drift drift = {0};
    struct differing count = {0};
    for (size_t i = 0; i < stream->packet_count; i++) {
        const bool may = drift_add(&drift, plan->classes[i], stream->packets[i]->pts, plan->degrade[i]) || plan->degrade[i];
        const bool differs = !is_same(whole, found, i);
        ck_assert_int_eq(found->out[i], whole->out[i]);
        ck_assert_msg(may || !differs, "%s: the picture of packet %zu differs", name, i);
        count.all += differs;
        count.references += differs && plan->degrade[i] && plan->classes[i] != CLASS_DROPPABLE;
    }
    return count;
}

static struct differing degrade(const char *name, const struct coded_stream *stream, struct plan *plan, const struct result *whole)
{
    bool can;
    struct result one = decode(stream, 1, plan->degrade, &can);
    struct result several = decode(stream, THREADS, plan->degrade, &can);
    ck_assert(can);
    const struct differing count = compare(name, stream, plan, whole, &one);
    for (size_t i = 0; i < stream->packet_count; i++)
        ck_assert_msg(is_same(&one, &several, i), "%s: packet %zu: frame threads make another picture", name, i);
    result_finish(&several);
    result_finish(&one);
    return count;
}

static struct differing *count_of(const struct gate_clip *clip)
{
    for (int i = 0; i < CODECS; i++)
        if (!strcmp(clip->codec, codecs[i]))
            return &differing[i];
    return NULL;
}

static void degrade_clip(const struct gate_clip *clip, const struct coded_stream *stream, struct differing *differ)
{
    char name[NAME_SIZE];
    bool can;
    gate_clip_describe(clip, name, sizeof name);
    struct plan plan = {av_calloc(stream->packet_count, sizeof *plan.classes), av_calloc(stream->packet_count, sizeof(bool))};
    find_classes(stream, &plan);
    struct result whole = decode(stream, 1, NULL, &can);
    for (size_t choice = 0; choice < sizeof choices / sizeof *choices; choice++) {
        for (size_t i = 0; i < stream->packet_count; i++)
            plan.degrade[i] = choices[choice](&plan, i, stream->packet_count);
        const struct differing count = degrade(name, stream, &plan, &whole);
        printf("%s: %" PRId64 " of %zu pictures differ\n", name, count.all, stream->packet_count);
        differ->all += count.all;
        differ->references += count.references;
    }
    result_finish(&whole);
    av_freep(&plan.classes);
    av_freep(&plan.degrade);
}

START_TEST(only_pictures_differ_that_may)
{
    const struct gate_clip *const clip = &gate_clips[_i];
    struct differing *const differ = count_of(clip);
    struct coded_stream stream;
    if (!differ || clip->damaged || clip->seek)
        return;
    const int loaded = gate_clip_load(clip, &stream);
    ck_assert_int_ge(loaded, 0);
    if (!loaded)
        return;
    degrade_clip(clip, &stream, differ);
    stream_finish(&stream);
}
END_TEST

START_TEST(degrading_others_changes_nothing)
{
    static const char *const names[] = {"mpeg2_ibbp", "mpeg4_b", "vp9_layers", "av1_svt"};
    const struct gate_clip clip = {.name = names[_i]};
    struct coded_stream stream;
    if (gate_clip_load(&clip, &stream) <= 0)
        return;
    bool can;
    bool *const all = av_malloc(stream.packet_count);
    memset(all, true, stream.packet_count);
    struct result whole = decode(&stream, 1, NULL, &can);
    struct result found = decode(&stream, 1, all, &can);
    ck_assert(!can);
    for (size_t i = 0; i < stream.packet_count; i++)
        ck_assert(is_same(&whole, &found, i));
    result_finish(&found);
    result_finish(&whole);
    av_free(all);
    stream_finish(&stream);
}
END_TEST

/* A codec whose encoder is not on this machine has no clips. */
START_TEST(pictures_differed)
{
    for (int i = 0; i < CODECS; i++) {
        printf("%s: %" PRId64 " pictures differed, %" PRId64 " of them references without their loop filter\n", codecs[i],
               differing[i].all, differing[i].references);
        ck_assert(!differing[i].all || (differing[i].all > 50 && differing[i].references > 20));
    }
    ck_assert_int_gt(differing[0].all, 0);
}
END_TEST

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!gate_clips_can_be_made()) {
        printf("skipped: no clip can be made here\n");
        return EXIT_SKIPPED;
    }
    TCase *const tcase = tcase_create("degraded");
    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, only_pictures_differ_that_may, 0, gate_clip_count);
    tcase_add_loop_test(tcase, degrading_others_changes_nothing, 0, 4);
    tcase_add_test(tcase, pictures_differed);
    return suite_run_case("degraded pictures", tcase, CK_NOFORK);
}
