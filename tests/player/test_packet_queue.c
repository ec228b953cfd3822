/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A queue of packets: its order, its limits, and who waits. Not covered: what is looked at ahead (test_look_ahead.c); who fills it
 * (test_feeder.c).
 */
#include "packet_queue.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "ns.h"
#include "suite.h"

/* More than twice the number at which FFmpeg's queues stop to grow by themselves. */
enum { MANY = 300000, FEW = 10 };

static AVFormatContext *format;
static struct read_ahead *ahead;
static struct packet_queue *queue;

static void open_queue(int64_t limit_bytes)
{
    format = avformat_alloc_context();
    AVStream *const stream = avformat_new_stream(format, NULL);
    stream->time_base = (AVRational){1, 1000};
    stream->codecpar->codec_type = AVMEDIA_TYPE_AUDIO;
    ck_assert_int_eq(read_ahead_create(&ahead), 0);
    const struct packet_queue_settings settings = {limit_bytes, ahead, READ_SOUND, stream, NS_PER_MS};
    ck_assert_int_eq(queue_create(&queue, &settings), 0);
}

static void teardown(void)
{
    queue_destroy(&queue);
    read_ahead_destroy(&ahead);
    avformat_free_context(format);
}

static AVPacket *packet_of(int64_t pts, int size)
{
    AVPacket *const packet = av_packet_alloc();
    ck_assert_int_eq(av_new_packet(packet, size), 0);
    packet->pts = packet->dts = pts;
    return packet;
}

static int push(int64_t pts)
{
    AVPacket *packet = packet_of(pts, 1);
    const int ret = queue_push(queue, packet);
    av_packet_free(&packet);
    return ret;
}

static void expect(int64_t pts)
{
    AVPacket *packet;
    ck_assert_int_eq(queue_pop(queue, &packet, 0), QUEUE_PACKET);
    ck_assert_int_eq(packet->pts, pts);
    av_packet_free(&packet);
}

static enum queue_status status(void)
{
    AVPacket *packet;
    return queue_pop(queue, &packet, 0);
}

/* An hour of some sound. Packets leave meanwhile, so that the ring has to grow wherever it begins. */
START_TEST(queue_holds_as_many_packets_as_its_limit_allows)
{
    open_queue(INT64_MAX);
    int64_t taken = 0;
    for (int64_t i = 0; i < MANY; i++) {
        ck_assert_int_eq(push(i), 0);
        if (i % 3 == 0)
            expect(taken++);
    }
    queue_push_end(queue);
    while (taken < MANY)
        expect(taken++);
    ck_assert_int_eq(status(), QUEUE_DRAINED);
}
END_TEST

static int64_t bytes_of_one(void)
{
    AVPacket *packet = packet_of(0, 1);
    const int64_t bytes = queue_packet_bytes(packet);
    ck_assert_int_gt(bytes, (int64_t)sizeof *packet + 1 + AV_INPUT_BUFFER_PADDING_SIZE);
    av_packet_free(&packet);
    return bytes;
}

START_TEST(side_data_counts)
{
    AVPacket *packet = packet_of(0, 1);
    const int64_t bytes = queue_packet_bytes(packet);
    ck_assert_ptr_nonnull(av_packet_new_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, 1000));
    ck_assert_int_gt(queue_packet_bytes(packet), bytes + 1000);
    av_packet_free(&packet);
}
END_TEST

static void *push_one(void *arg)
{
    (void)arg;
    push(FEW);
    return NULL;
}

static void await_full(void)
{
    while (!queue_is_full(queue))
        usleep(1000);
}

/* They have nearly no data: what they take beside it fills the queue. */
START_TEST(full_queue_waits)
{
    open_queue(FEW * bytes_of_one());
    AVPacket *packet = packet_of(0, 1);
    for (int i = 0; i < FEW; i++) {
        ck_assert(!queue_has_no_room_for(queue, packet));
        ck_assert_int_eq(push(i), 0);
    }
    ck_assert(queue_has_no_room_for(queue, packet));
    av_packet_free(&packet);
    pthread_t writer;
    ck_assert_int_eq(pthread_create(&writer, NULL, push_one, NULL), 0);
    await_full();
    expect(0);
    pthread_join(writer, NULL);
    for (int i = 1; i <= FEW; i++)
        expect(i);
    ck_assert_int_eq(status(), QUEUE_EMPTY);
}
END_TEST

START_TEST(waiting_is_cancelled)
{
    open_queue(bytes_of_one());
    ck_assert_int_eq(push(0), 0);
    pthread_t writer;
    ck_assert_int_eq(pthread_create(&writer, NULL, push_one, NULL), 0);
    await_full();
    queue_cancel(queue);
    pthread_join(writer, NULL);
    ck_assert_int_eq(push(1), -ECANCELED);
    queue_reset(queue);
    ck_assert_int_eq(push(2), 0);
    expect(2);
}
END_TEST

START_TEST(a_single_packet_may_be_larger_than_the_queue)
{
    open_queue(1);
    ck_assert_int_eq(push(0), 0);
    expect(0);
}
END_TEST

START_TEST(a_queue_lacks_packets_until_one_comes_or_the_end)
{
    open_queue(INT64_MAX);
    ck_assert(queue_lacks_packets(queue));
    push(0);
    ck_assert(!queue_lacks_packets(queue));
    expect(0);
    ck_assert(queue_lacks_packets(queue));
    queue_push_end(queue);
    ck_assert(!queue_lacks_packets(queue)); /* the decoder gives out its last pictures */
    ck_assert(queue_is_empty(queue));
}
END_TEST

START_TEST(a_stall_is_reported_once_behind_the_last_packet)
{
    open_queue(INT64_MAX);
    push(0);
    queue_note_stall(queue, true);
    expect(0);
    ck_assert_int_eq(status(), QUEUE_STALLED);
    ck_assert_int_eq(status(), QUEUE_EMPTY);
    queue_note_stall(queue, false);
    queue_note_stall(queue, true);
    ck_assert_int_eq(status(), QUEUE_EMPTY);
    push(1);
    expect(1);
    ck_assert_int_eq(status(), QUEUE_STALLED);
    queue_push_end(queue);
    ck_assert_int_eq(status(), QUEUE_DRAINED);
}
END_TEST

START_TEST(a_stall_that_is_over_is_not_reported)
{
    open_queue(INT64_MAX);
    push(0);
    queue_note_stall(queue, true);
    queue_note_stall(queue, false);
    expect(0);
    ck_assert_int_eq(status(), QUEUE_EMPTY);
}
END_TEST

static void *wait_for_stall(void *arg)
{
    AVPacket *packet;
    *(enum queue_status *)arg = queue_pop(queue, &packet, QUEUE_WAIT_FOR_EVER);
    return NULL;
}

START_TEST(a_stall_wakes_the_reader)
{
    open_queue(INT64_MAX);
    enum queue_status found = QUEUE_EMPTY;
    pthread_t reader;
    ck_assert_int_eq(pthread_create(&reader, NULL, wait_for_stall, &found), 0);
    queue_note_stall(queue, true);
    pthread_join(reader, NULL);
    ck_assert_int_eq(found, QUEUE_STALLED);
}
END_TEST

int main(void)
{
    TCase *const cases = tcase_create("packet_queue");
    tcase_set_timeout(cases, 60);
    tcase_add_checked_fixture(cases, NULL, teardown);
    const TTest *const tests[] = {
        queue_holds_as_many_packets_as_its_limit_allows,
        side_data_counts,
        full_queue_waits,
        waiting_is_cancelled,
        a_single_packet_may_be_larger_than_the_queue,
        a_queue_lacks_packets_until_one_comes_or_the_end,
        a_stall_is_reported_once_behind_the_last_packet,
        a_stall_that_is_over_is_not_reported,
        a_stall_wakes_the_reader,
    };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(cases, tests[i]);
    return suite_run_case("packet_queue", cases, CK_FORK_GETENV);
}
