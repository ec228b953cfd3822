/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The player's decoder with codec threads, over the clips of bench/gates: the same pictures in the same order as with one
 * thread, and each one has the order of its own packet, whatever is given up around it.
 *
 * Not covered: damaged streams and streams that begin in the middle, of which FFmpeg itself shows others with several
 * threads; field pictures; the player around the decoder (tests/input/test_threads.py).
 */
#include <check.h>
#include <dlex/dlex.h>
#include <inttypes.h>
#include <libavformat/avformat.h>
#include <libavutil/mem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "decoder.h"
#include "gate_clips.h"
#include "made_streams.h"
#include "ns.h"
#include "thread_list.h"
#include "thread_role.h"
#include "suite.h"

enum { THREADS_LEAST = 2, THREADS_MOST = 4, ROUNDS = 4, LONGEST_DEADLINE_US = 1500, NAME_SIZE = 128, EXIT_SKIPPED = 77 };

struct picture {
    int64_t number;
    bool droppable;
    bool abandoned;
    struct picture_decode decode;
    int captions; /* of which packet; -1: none */
    struct picture_hash hash;
};

/* What came out of a decode of a whole stream. */
struct result {
    struct picture *pictures;
    size_t count;
    enum codec_thread_kind kind;
    int beside; /* pictures that codec threads hold back */
};

/* How a stream is decoded. */
struct way {
    const struct coded_stream *stream;
    struct decoder_settings settings;
    struct pass_seek seek;
    const struct decode_order *orders; /* for each packet */
};

/* Threads of this process. Those that have just ended may still be among them. */
struct thread_ids {
    int count;
    pid_t ids[HELPER_WATCH_MAX];
};

static struct thread_ids threads_now(void)
{
    struct thread_ids now;
    now.count = thread_list(getpid(), now.ids, HELPER_WATCH_MAX);
    return now;
}

/* Every thread that was not there before has the role decode, also where the size of the pictures has changed. */
static void check_roles(const struct thread_ids *before)
{
    const struct thread_ids now = threads_now();
    for (int i = 0; i < now.count; i++) {
        bool is_old = false;
        for (int j = 0; j < before->count; j++)
            is_old |= before->ids[j] == now.ids[i];
        ck_assert(is_old || thread_role_of(now.ids[i]) == ROLE_DECODE);
    }
}

static uint64_t random_state;
static int64_t given_up; /* in all tests together, while their decode ran in a codec thread */

static uint64_t draw(uint64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % below;
}

static void add_picture(struct result *result, const AVFrame *frame, const struct taken_picture *taken)
{
    result->pictures = av_realloc_array(result->pictures, result->count + 1, sizeof *result->pictures);
    ck_assert_ptr_nonnull(result->pictures);
    struct picture *const picture = &result->pictures[result->count++];
    *picture = (struct picture){
        .number = taken->number,
        .droppable = frame->flags & AV_FRAME_FLAG_DROPPABLE,
        .abandoned = frame->flags & AV_FRAME_FLAG_ABANDONED,
        .decode = taken->decode,
        .captions = captions_number(frame),
    };
    if (!picture->abandoned)
        ck_assert_int_eq(picture_hash(frame, &picture->hash), 0);
}

static void take_pictures(struct decoder *decoder, struct result *result)
{
    AVFrame *frame = av_frame_alloc();
    struct taken_picture taken;
    while (decoder_take(decoder, frame, &taken)) {
        add_picture(result, frame, &taken);
        av_frame_unref(frame);
    }
    av_frame_free(&frame);
}

static void drain(struct decoder *decoder, struct result *result)
{
    const struct decode_job job = {.order = {.deadline_ns = NO_DEADLINE}};
    struct decode_outcome outcome;
    while (decoder_run(decoder, &job, &outcome) != AVERROR_EOF)
        take_pictures(decoder, result);
    take_pictures(decoder, result);
}

/* The order's deadline counts from now. */
static struct decode_order order_now(const struct decode_order *order)
{
    struct decode_order now = *order;
    if (now.deadline_ns != NO_DEADLINE)
        now.deadline_ns += dlex_now_ns();
    return now;
}

static void decode_packets(struct decoder *decoder, const struct way *way, struct result *result)
{
    int64_t received_ns = 0; /* by the decode before */
    for (size_t i = 0; i < way->stream->packet_count; i++) {
        if (i == way->seek.after && way->seek.to > i) {
            decoder_flush(decoder);
            i = way->seek.to;
        }
        const struct decode_job job = {
            .packet = way->stream->packets[i], .number = (int64_t)i, .order = order_now(&way->orders[i])};
        struct decode_outcome outcome;
        decoder_run(decoder, &job, &outcome); /* an error concerns a picture that has begun before, and shows below */
        ck_assert_int_eq(outcome.is_pending, codec_threads_overlap(decoder_threads(decoder)));
        ck_assert_int_ge(outcome.between_ns, 0);
        if (outcome.since_last_ns != NS_UNKNOWN)
            ck_assert_int_eq(outcome.since_last_ns, received_ns + outcome.between_ns);
        received_ns = outcome.received_ns;
        take_pictures(decoder, result);
    }
    drain(decoder, result);
}

/* Returns how many threads the decoder must have started. */
static int helpers_of(const struct result *result, int threads)
{
    return result->kind == CODEC_THREADS_NONE ? 0 : result->kind == CODEC_THREADS_SLICE ? threads - 1 : threads;
}

static struct result decode(const struct way *way)
{
    struct result result = {0};
    struct decoder *decoder;
    char why[NAME_SIZE];
    AVFormatContext *format = avformat_alloc_context();
    AVStream *const stream = avformat_new_stream(format, NULL);
    ck_assert_int_ge(avcodec_parameters_copy(stream->codecpar, way->stream->parameters), 0);
    stream->time_base = (AVRational){1, 90000};
    const struct thread_ids before = threads_now();
    ck_assert_msg(decoder_open(&decoder, stream, &way->settings, why, sizeof why) == 0, "%s", why);
    result.kind = decoder_threads(decoder)->kind;
    result.beside = decoder_threads(decoder)->beside;
    decode_packets(decoder, way, &result);
    check_roles(&before);
    ck_assert_int_eq(decoder_threads(decoder)->helpers.count, helpers_of(&result, way->settings.threads));
    decoder_close(&decoder);
    avformat_free_context(format);
    return result;
}

static void result_finish(struct result *result)
{
    av_freep(&result->pictures);
}

static void compare_picture(const char *name, const struct picture *expected, const struct picture *found, bool has_side_data)
{
    ck_assert_int_ge(expected->number, 0);
    ck_assert_msg(found->number == expected->number, "%s: a picture of packet %" PRId64 " instead of %" PRId64, name,
                  found->number, expected->number);
    ck_assert_msg(found->droppable == expected->droppable, "%s: packet %" PRId64 ": droppable %d", name, found->number,
                  found->droppable);
    if (found->abandoned)
        return;
    ck_assert_msg(!memcmp(found->hash.samples, expected->hash.samples, sizeof found->hash.samples),
                  "%s: the picture of packet %" PRId64 " has other samples", name, found->number);
    ck_assert_msg(!has_side_data || !memcmp(found->hash.side_data, expected->hash.side_data, sizeof found->hash.side_data),
                  "%s: the picture of packet %" PRId64 " has other side data", name, found->number);
}

static bool may_be_given_up(const struct decode_order *order)
{
    return order->refuse || order->deadline_ns != NO_DEADLINE;
}

/* Returns how many pictures came out before the seek. */
static size_t count_before(const struct pass_seek *seek, const struct result *result)
{
    size_t count = 0;
    while (count < result->count && result->pictures[count].number < (int64_t)seek->after)
        count++;
    return count;
}

/*
 * The seek loses the pictures that codec threads still hold back, and those that were withheld behind them. Expects no more
 * than that, and returns how many came out with one thread only.
 */
static size_t count_lost(const char *name, const struct way *way, const struct result *expected, const struct result *found)
{
    const size_t before = count_before(&way->seek, found);
    const size_t before_expected = count_before(&way->seek, expected);
    ck_assert_msg(before <= before_expected, "%s: %zu pictures before the seek instead of %zu", name, before, before_expected);
    int held_back = 0;
    for (size_t i = before; i < before_expected; i++)
        held_back += !may_be_given_up(&way->orders[expected->pictures[i].number]);
    ck_assert_msg(held_back <= found->beside, "%s: the seek lost %d pictures", name, held_back);
    return before_expected - before;
}

static void compare(const char *name, const struct way *way, const struct result *expected, const struct result *found,
                    bool has_side_data)
{
    const size_t lost = count_lost(name, way, expected, found);
    ck_assert_msg(found->count + lost == expected->count, "%s: %zu pictures instead of %zu", name, found->count,
                  expected->count - lost);
    const size_t before = count_before(&way->seek, found);
    for (size_t i = 0; i < found->count; i++)
        compare_picture(name, &expected->pictures[i < before ? i : i + lost], &found->pictures[i], has_side_data);
}

/* What was ordered for a packet is done with its picture, and what was done is known. */
static void check_order(const char *name, const struct picture *picture, const struct decode_order *order)
{
    ck_assert_msg(!picture->abandoned || (picture->droppable && may_be_given_up(order)),
                  "%s: packet %" PRId64 " was given up without an order", name, picture->number);
    ck_assert_msg(!order->refuse || !picture->droppable || picture->abandoned, "%s: packet %" PRId64 " was not refused", name,
                  picture->number);
    if (!picture->decode.is_known)
        return;
    const enum verdict expected = !picture->abandoned ? VERDICT_NONE : order->refuse ? VERDICT_SKIPPED : VERDICT_ABORTED;
    ck_assert_int_eq(picture->decode.verdict, expected);
    ck_assert_int_ge(picture->decode.end_ns, picture->decode.start_ns);
    given_up += picture->decode.verdict != VERDICT_NONE;
}

/* Captions of a picture that was given up do not come out with another. */
static void check_captions(const char *name, const struct result *result)
{
    for (size_t i = 0; i < result->count; i++)
        for (size_t j = 0; j < result->count; j++)
            ck_assert_msg(!result->pictures[j].abandoned || result->pictures[i].captions != result->pictures[j].number,
                          "%s: the picture of packet %" PRId64 " has the captions of one that was given up", name,
                          result->pictures[i].number);
}

/*
 * libdav1d before version 1.2.0 gives captions to pictures of other units, to the same ones with any number of threads. If
 * units are withheld, it gives them to others (see pass_misplaces_captions()).
 */
static bool misplaces_captions(const struct result *undisturbed)
{
    for (size_t i = 0; i < undisturbed->count; i++)
        if (undisturbed->pictures[i].captions >= 0 && undisturbed->pictures[i].captions != undisturbed->pictures[i].number)
            return true;
    return false;
}

/* With frame threads, the thread of each picture is known, and so is its CPU time. */
static void check_costs(const char *name, const struct result *result)
{
    int64_t sum_ns = 0;
    for (size_t i = 0; i < result->count; i++) {
        const struct picture_decode *const decode = &result->pictures[i].decode;
        ck_assert_int_eq(decode->is_known, result->kind == CODEC_THREADS_FRAME || result->kind == CODEC_THREADS_OWN);
        if (result->kind != CODEC_THREADS_FRAME)
            continue;
        ck_assert_msg(decode->cpu_ns > 0, "%s: picture %zu has no CPU time", name, i);
        sum_ns += decode->cpu_ns;
    }
    ck_assert_int_lt(sum_ns, 60 * NS_PER_S);
}

/* One packet in four is refused, one has a deadline that has passed, one a short one, and one none. */
static void draw_orders(struct decode_order *orders, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        orders[i] = (struct decode_order){.deadline_ns = NO_DEADLINE};
        switch (draw(4)) {
        case 0: orders[i].refuse = true; break;
        case 1: orders[i].deadline_ns = -1; break;
        case 2: orders[i].deadline_ns = (int64_t)draw(LONGEST_DEADLINE_US) * NS_PER_US; break;
        default: break;
        }
    }
}

static void decode_disturbed(const char *name, const struct way *way, const struct result *expected)
{
    struct decode_order *const orders = calloc(way->stream->packet_count, sizeof *orders);
    for (int round = 0; round < ROUNDS; round++) {
        struct way disturbed = *way;
        draw_orders(orders, way->stream->packet_count);
        disturbed.orders = orders;
        disturbed.settings.threads = THREADS_LEAST + round % (THREADS_MOST - THREADS_LEAST + 1);
        struct result found = decode(&disturbed);
        compare(name, &disturbed, expected, &found, !misplaces_captions(expected));
        check_captions(name, &found);
        for (size_t i = 0; i < found.count; i++)
            check_order(name, &found.pictures[i], &orders[found.pictures[i].number]);
        result_finish(&found);
    }
    free(orders);
}

static void decode_undisturbed(const char *name, const struct way *way, const struct result *expected)
{
    for (int threads = THREADS_LEAST; threads <= THREADS_MOST; threads++) {
        struct way with_threads = *way;
        with_threads.settings.threads = threads;
        struct result found = decode(&with_threads);
        ck_assert_int_ne(found.kind, CODEC_THREADS_NONE);
        compare(name, &with_threads, expected, &found, true);
        check_costs(name, &found);
        result_finish(&found);
    }
}

START_TEST(pictures_are_those_of_one_thread)
{
    const struct gate_clip *const clip = &gate_clips[_i];
    struct coded_stream stream;
    char name[NAME_SIZE];
    if (clip->damaged)
        return;
    const int loaded = gate_clip_load(clip, &stream);
    ck_assert_int_ge(loaded, 0);
    if (!loaded)
        return;
    gate_clip_describe(clip, name, sizeof name);
    struct decode_order *const orders = calloc(stream.packet_count, sizeof *orders);
    for (size_t i = 0; i < stream.packet_count; i++)
        orders[i].deadline_ns = NO_DEADLINE;
    const struct way way = {
        .stream = &stream, .settings = {.threads = 1}, .seek = gate_clip_seek(clip, &stream), .orders = orders};
    struct result expected = decode(&way);
    ck_assert_int_eq(expected.kind, CODEC_THREADS_NONE);
    decode_undisturbed(name, &way, &expected);
    decode_disturbed(name, &way, &expected);
    result_finish(&expected);
    free(orders);
    stream_finish(&stream);
}
END_TEST

START_TEST(pictures_were_given_up_in_codec_threads)
{
    printf("%" PRId64 " pictures were given up in codec threads\n", given_up);
    ck_assert_int_gt(given_up, 200);
}
END_TEST

int main(void)
{
    const char *const given = getenv("DLEX_TEST_SEED");
    random_state = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
    printf("DLEX_TEST_SEED=%" PRIu64 "\n", random_state);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!gate_clips_can_be_made()) {
        printf("skipped: no clip can be made here\n");
        return EXIT_SKIPPED;
    }
    TCase *const tcase = tcase_create("decoder threads");
    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, pictures_are_those_of_one_thread, 0, gate_clip_count);
    tcase_add_test(tcase, pictures_were_given_up_in_codec_threads);
    return suite_run_case("decoder threads", tcase, CK_NOFORK);
}
