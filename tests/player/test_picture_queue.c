/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The queue of decoded pictures, with pictures made up. Not covered: the decode thread and a presenter together
 * (tests/input), and pictures larger than the limit in real memory.
 */
#include "picture_queue.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "ns.h"
#include "suite.h"
#include "thread_cpu.h"

#define MS NS_PER_MS
#define FRAME (40 * MS)

enum { PICTURE_BYTES = 1000 };

static const struct queue_limit no_limit = {INT64_MAX, INT64_MAX, INT64_MAX};

static struct picture_queue *queue_of(struct queue_limit limit)
{
    struct picture_queue *queue;
    ck_assert_int_eq(picture_queue_create(&queue, &limit), 0);
    return queue;
}

static void push_at(struct picture_queue *queue, int64_t pts_ns, bool abandoned)
{
    AVFrame *frame = av_frame_alloc();
    frame->buf[0] = av_buffer_alloc(PICTURE_BYTES);
    frame->data[0] = frame->buf[0]->data;
    struct decoded_picture picture = {
        .frame = frame,
        .abandoned = abandoned,
        .place.pts_ns = pts_ns,
        .due_ns = pts_ns,
        .next_ns = pts_ns + FRAME,
    };
    ck_assert_int_eq(picture_queue_push_picture(queue, &picture), 0);
    ck_assert_ptr_null(frame->buf[0]); /* moved */
    av_frame_free(&frame);
}

static void push(struct picture_queue *queue, int number)
{
    push_at(queue, number * FRAME, false);
}

static struct picture_message pop(struct picture_queue *queue)
{
    struct picture_message message = picture_queue_pop(queue, 0);
    av_frame_free(&message.picture.frame);
    return message;
}

static bool is_full(struct picture_queue *queue)
{
    return picture_queue_fill(queue).full;
}

START_TEST(messages_come_out_as_they_went_in)
{
    struct picture_queue *queue = queue_of(no_limit);
    const struct job_note note = {.outcome.number = 7};
    picture_queue_push_job(queue, &note);
    push(queue, 3);
    picture_queue_push_end(queue);
    struct picture_message message = pop(queue);
    ck_assert(message.kind == MESSAGE_JOB && message.job.outcome.number == 7);
    message = pop(queue);
    ck_assert(message.kind == MESSAGE_PICTURE && message.picture.place.pts_ns == 3 * FRAME);
    ck_assert_int_eq(pop(queue).kind, MESSAGE_END);
    ck_assert_int_eq(pop(queue).kind, MESSAGE_NONE);
    picture_queue_destroy(&queue);
}
END_TEST

START_TEST(number_of_pictures_is_limited)
{
    struct picture_queue *queue = queue_of((struct queue_limit){3, INT64_MAX, INT64_MAX});
    push(queue, 0);
    push(queue, 1);
    ck_assert(!is_full(queue));
    push(queue, 2);
    ck_assert(is_full(queue));
    pop(queue);
    ck_assert(!is_full(queue));
    picture_queue_destroy(&queue);
}
END_TEST

START_TEST(memory_is_limited_so_that_one_more_picture_fits)
{
    struct picture_queue *queue = queue_of((struct queue_limit){INT64_MAX, 3 * PICTURE_BYTES, INT64_MAX});
    push(queue, 0);
    push(queue, 1);
    ck_assert(!is_full(queue));
    push(queue, 2);
    ck_assert_int_eq(picture_queue_fill(queue).bytes, 3 * PICTURE_BYTES);
    ck_assert(is_full(queue));
    picture_queue_destroy(&queue);
}
END_TEST

START_TEST(time_is_limited)
{
    struct picture_queue *queue = queue_of((struct queue_limit){INT64_MAX, INT64_MAX, 3 * FRAME});
    push(queue, 10);
    push(queue, 11);
    ck_assert(!is_full(queue));
    push(queue, 12);
    ck_assert(is_full(queue));
    pop(queue);
    ck_assert(!is_full(queue));
    push(queue, 13);
    ck_assert(is_full(queue));
    picture_queue_destroy(&queue);
}
END_TEST

START_TEST(two_pictures_fit_whatever_the_limit_is)
{
    struct picture_queue *queue = queue_of((struct queue_limit){1, 1, 1});
    push(queue, 0);
    ck_assert(!is_full(queue));
    push(queue, 1);
    ck_assert(is_full(queue));
    picture_queue_destroy(&queue);
}
END_TEST

START_TEST(abandoned_picture_is_a_marker_and_does_not_count)
{
    struct picture_queue *queue = queue_of((struct queue_limit){2, INT64_MAX, INT64_MAX});
    push(queue, 0);
    for (int i = 1; i < 100; i++)
        push_at(queue, i * FRAME, true);
    const struct queue_fill fill = picture_queue_fill(queue);
    ck_assert_int_eq(fill.pictures, 1);
    ck_assert_int_eq(fill.bytes, PICTURE_BYTES);
    ck_assert(!fill.full);
    pop(queue);
    const struct picture_message marker = pop(queue);
    ck_assert(marker.kind == MESSAGE_PICTURE && marker.picture.abandoned);
    ck_assert_int_eq(picture_queue_fill(queue).pictures, 0);
    picture_queue_destroy(&queue);
}
END_TEST

START_TEST(endless_markers_fill_the_queue_too)
{
    struct picture_queue *queue = queue_of(no_limit);
    int pushed = 0;
    while (!is_full(queue) && pushed < 1000000)
        push_at(queue, pushed++ * FRAME, true);
    ck_assert_int_lt(pushed, 10000);
    picture_queue_destroy(&queue);
}
END_TEST

static void *wait_for_room(void *queue)
{
    return (void *)(intptr_t)picture_queue_wait_for_room(queue);
}

/* The same, and says which thread it is. */
struct writer {
    struct picture_queue *queue;
    _Atomic pid_t id;
};

static void *wait_as_writer(void *arg)
{
    struct writer *const writer = arg;
    writer->id = gettid();
    return wait_for_room(writer->queue);
}

static void await_sleep(const struct writer *writer)
{
    char state = 0;
    while (state != 'S') {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)writer->id);
        FILE *const stat = writer->id ? fopen(path, "re") : NULL;
        if (!stat || fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
            state = 0;
        if (stat)
            fclose(stat);
        usleep(1000);
    }
}

START_TEST(writer_waits_until_there_is_room)
{
    struct picture_queue *queue = queue_of((struct queue_limit){2, INT64_MAX, INT64_MAX});
    push(queue, 0);
    push(queue, 1);
    pthread_t writer;
    pthread_create(&writer, NULL, wait_for_room, queue);
    usleep(20000);
    pop(queue);
    void *may_write;
    pthread_join(writer, &may_write);
    ck_assert_ptr_nonnull(may_write);
    picture_queue_destroy(&queue);
}
END_TEST

START_TEST(writer_that_waits_can_be_stopped)
{
    struct picture_queue *queue = queue_of((struct queue_limit){2, INT64_MAX, INT64_MAX});
    push(queue, 0);
    push(queue, 1);
    pthread_t writer;
    pthread_create(&writer, NULL, wait_for_room, queue);
    usleep(20000);
    picture_queue_stop_writing(queue, true);
    void *may_write;
    pthread_join(writer, &may_write);
    ck_assert_ptr_null(may_write);
    picture_queue_stop_writing(queue, false);
    picture_queue_clear(queue);
    ck_assert(picture_queue_wait_for_room(queue));
    picture_queue_destroy(&queue);
}
END_TEST

/* Presenting needs more than the quota gives, so from now on nothing is left for decoding. */
static void use_up_quota(struct picture_queue *queue)
{
    struct stage_clock clock = {.presenting_cpu_ns = NS_PER_S, .limits = {.cpus = 1, .quota = 1}};
    sync_init(&clock.sync, 0, false);
    sync_start(&clock.sync, 0);
    picture_queue_set_clock(queue, &clock);
    push(queue, 0);
    pop(queue);
}

START_TEST(writer_leaves_the_quota_to_the_presenter_while_a_picture_waits)
{
    struct picture_queue *queue = queue_of((struct queue_limit){4, INT64_MAX, INT64_MAX});
    use_up_quota(queue);
    for (int i = 1; i <= 2; i++)
        push(queue, i);
    ck_assert(!is_full(queue));
    struct writer writer = {.queue = queue};
    pthread_t thread;
    pthread_create(&thread, NULL, wait_as_writer, &writer);
    await_sleep(&writer);
    usleep(100000);
    pop(queue); /* one is left */
    usleep(20000);
    pop(queue);
    void *may_write;
    pthread_join(thread, &may_write);
    ck_assert_ptr_nonnull(may_write);
    ck_assert_int_gt(picture_queue_take_saving(queue).wall_ns, 0);
    ck_assert_int_eq(picture_queue_take_saving(queue).wall_ns, 0);
    picture_queue_destroy(&queue);
}
END_TEST

static void *wait_for_quota(void *queue)
{
    picture_queue_wait_for_quota(queue);
    return NULL;
}

START_TEST(decode_pauses_for_the_quota_until_no_picture_waits_or_writing_is_stopped)
{
    struct picture_queue *queue = queue_of(no_limit);
    push(queue, 0);
    picture_queue_wait_for_quota(queue); /* there is no quota */
    pop(queue);
    use_up_quota(queue);
    picture_queue_wait_for_quota(queue); /* no picture waits */
    for (int stops = 0; stops <= 1; stops++) {
        push(queue, 1);
        pthread_t writer;
        pthread_create(&writer, NULL, wait_for_quota, queue);
        usleep(20000);
        ck_assert_int_eq(pthread_tryjoin_np(writer, NULL), EBUSY);
        if (stops)
            picture_queue_stop_writing(queue, true);
        else
            pop(queue);
        pthread_join(writer, NULL);
    }
    ck_assert_int_eq(picture_queue_take_saving(queue).wall_ns, 0); /* the decode's own time has it */
    picture_queue_destroy(&queue);
}
END_TEST

/* Codec threads may hold as much as the queue may have, so that nothing is left of its limits. */
START_TEST(writer_does_not_wait_for_the_quota_while_no_picture_waits)
{
    static const struct queue_limit limits[] = {
        {0, INT64_MAX, INT64_MAX}, {1, INT64_MAX, INT64_MAX}, {INT64_MAX, 0, INT64_MAX}, {INT64_MAX, INT64_MAX, 0},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct picture_queue *queue = queue_of(limits[i]);
        use_up_quota(queue);
        ck_assert(picture_queue_wait_for_room(queue));
        picture_queue_destroy(&queue);
    }
}
END_TEST

static void use_cpu(int64_t cpu_ns)
{
    const int64_t start_ns = thread_cpu_ns();
    while (thread_cpu_ns() < start_ns + cpu_ns)
        ;
}

/* Returns a queue whose writer waits for the quota. */
static struct picture_queue *queue_with_waiting_writer(pthread_t *writer)
{
    struct picture_queue *const queue = queue_of(no_limit);
    use_up_quota(queue);
    push(queue, 1);
    pthread_create(writer, NULL, wait_for_quota, queue);
    usleep(20000);
    ck_assert_int_eq(pthread_tryjoin_np(*writer, NULL), EBUSY);
    return queue;
}

START_TEST(decode_goes_on_when_the_clock_stops)
{
    pthread_t writer;
    struct picture_queue *queue = queue_with_waiting_writer(&writer);
    struct stage_clock clock = picture_queue_clock(queue);
    sync_stop(&clock.sync, 0);
    picture_queue_set_clock(queue, &clock);
    pthread_join(writer, NULL);
    picture_queue_destroy(&queue);
}
END_TEST

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ns_from_timespec(now);
}

/* Lets a writer wait for the quota, changes it, and expects that the writer goes on. */
static void expect_end_of_wait(double quota)
{
    pthread_t writer;
    struct picture_queue *queue = queue_with_waiting_writer(&writer);
    struct stage_clock clock = picture_queue_clock(queue);
    clock.limits.quota = quota;
    sync_observe(&clock.sync, -3 * NS_PER_S, now_ns());
    picture_queue_set_clock(queue, &clock);
    pthread_join(writer, NULL);
    picture_queue_destroy(&queue);
}

START_TEST(writer_that_waits_for_the_quota_goes_on_when_there_is_more_or_none)
{
    expect_end_of_wait(INFINITY);
    expect_end_of_wait(4);
}
END_TEST

START_TEST(quota_that_appears_stops_the_writer)
{
    struct picture_queue *queue = queue_of(no_limit);
    struct stage_clock clock = {.presenting_cpu_ns = NS_PER_S};
    sync_init(&clock.sync, 0, false);
    sync_start(&clock.sync, 0);
    picture_queue_set_clock(queue, &clock);
    for (int i = 0; i <= 1; i++)
        push(queue, i);
    pop(queue);
    picture_queue_wait_for_quota(queue);
    clock.limits = (struct cpu_limits){.cpus = 1, .quota = 1};
    picture_queue_set_clock(queue, &clock);
    pthread_t writer;
    pthread_create(&writer, NULL, wait_for_quota, queue);
    usleep(20000);
    ck_assert_int_eq(pthread_tryjoin_np(writer, NULL), EBUSY);
    picture_queue_stop_writing(queue, true);
    pthread_join(writer, NULL);
    picture_queue_destroy(&queue);
}
END_TEST

/* Several pictures are decoded before the clock starts. Their CPU time came out of periods of the quota that are over. */
START_TEST(cpu_time_used_while_the_clock_stands_is_not_paid_back)
{
    struct picture_queue *queue = queue_of(no_limit);
    struct stage_clock clock = {.limits = {.cpus = 1, .quota = 1}};
    sync_init(&clock.sync, 0, false);
    picture_queue_set_clock(queue, &clock);
    for (int i = 0; i <= 2; i++)
        push(queue, i);
    for (int starts = 0; starts <= 1; starts++) { /* at the beginning, and after a pause */
        pop(queue);
        use_cpu(3 * FRAME);
        sync_start(&clock.sync, 0);
        picture_queue_set_clock(queue, &clock);
        push(queue, 3 + starts);
        pop(queue);
        picture_queue_wait_for_quota(queue); /* pictures wait, and nearly all of a frame's duration is left for decoding */
        sync_stop(&clock.sync, 0);
        picture_queue_set_clock(queue, &clock);
    }
    picture_queue_destroy(&queue);
}
END_TEST

START_TEST(cleared_queue_is_empty)
{
    struct picture_queue *queue = queue_of(no_limit);
    push(queue, 0);
    picture_queue_push_end(queue);
    picture_queue_clear(queue);
    const struct queue_fill fill = picture_queue_fill(queue);
    ck_assert(fill.pictures == 0 && fill.bytes == 0 && !fill.ended);
    ck_assert_int_eq(pop(queue).kind, MESSAGE_NONE);
    picture_queue_destroy(&queue);
}
END_TEST

START_TEST(clock_goes_back_to_the_writer)
{
    struct picture_queue *queue = queue_of(no_limit);
    struct stage_clock clock = {.sound_plays = true};
    sync_init(&clock.sync, 5 * MS, false);
    picture_queue_set_clock(queue, &clock);
    const struct stage_clock seen = picture_queue_clock(queue);
    ck_assert(seen.sound_plays);
    ck_assert_int_eq(sync_media_ns(&seen.sync, 100 * MS), 5 * MS);
    picture_queue_destroy(&queue);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        messages_come_out_as_they_went_in,
        number_of_pictures_is_limited,
        memory_is_limited_so_that_one_more_picture_fits,
        time_is_limited,
        two_pictures_fit_whatever_the_limit_is,
        abandoned_picture_is_a_marker_and_does_not_count,
        endless_markers_fill_the_queue_too,
        writer_waits_until_there_is_room,
        writer_that_waits_can_be_stopped,
        writer_leaves_the_quota_to_the_presenter_while_a_picture_waits,
        writer_does_not_wait_for_the_quota_while_no_picture_waits,
        decode_pauses_for_the_quota_until_no_picture_waits_or_writing_is_stopped,
        decode_goes_on_when_the_clock_stops,
        writer_that_waits_for_the_quota_goes_on_when_there_is_more_or_none,
        quota_that_appears_stops_the_writer,
        cpu_time_used_while_the_clock_stands_is_not_paid_back,
        cleared_queue_is_empty,
        clock_goes_back_to_the_writer,
        NULL,
    };
    return suite_run("picture_queue", SUITE_TIMEOUT_DEFAULT, tests);
}
