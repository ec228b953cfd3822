/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "picture_queue.h"

#include "allowance.h"
#include "ns.h"
#include "thread_cpu.h"

#include <errno.h>
#include <libavutil/fifo.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    PICTURES_MIN = 2, /* with one, the decode thread would wait for the presenter after each picture */
    FIRST_ROOM = 64,
    /* Markers and notes are small, but a stretch in which everything is refused must not be read to its end at once. */
    MESSAGES_MAX = 4096,
};

struct picture_queue {
    pthread_mutex_t lock;    /* guards everything below; taken by the decode thread and the main thread */
    pthread_cond_t readable; /* a message came; the main thread waits for it. CLOCK_MONOTONIC */
    pthread_cond_t writable; /* there is room, or writing was stopped; the decode thread waits for it */
    struct queue_limit limit;
    AVFifo *messages; /* elements are struct picture_message */
    int64_t pictures; /* among them that can be shown */
    int64_t bytes;
    int64_t largest_bytes; /* of one picture so far */
    int64_t first_pts_ns;  /* of the picture that will come out next; NS_UNKNOWN: there is none */
    int64_t end_pts_ns;    /* of the last picture that went in */
    struct queue_use use; /* pictures_mean is the sum until it is asked for */
    struct stage_clock clock;
    struct allowance allowance;
    struct queue_saving saving;
    atomic_bool has_quota;   /* the allowance's, also read without the lock */
    bool writer_waits;
    bool writing_stopped;
    bool ended;
};

int picture_queue_create(struct picture_queue **out, const struct queue_limit *limit)
{
    struct picture_queue *const queue = calloc(1, sizeof *queue);
    if (!queue)
        return -ENOMEM;
    queue->messages = av_fifo_alloc2(FIRST_ROOM, sizeof(struct picture_message), AV_FIFO_FLAG_AUTO_GROW);
    if (!queue->messages) {
        free(queue);
        return -ENOMEM;
    }
    av_fifo_auto_grow_limit(queue->messages, 2 * MESSAGES_MAX);
    queue->limit = *limit;
    allowance_init(&queue->allowance);
    queue->first_pts_ns = NS_UNKNOWN;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&queue->readable, &attributes);
    pthread_cond_init(&queue->writable, &attributes);
    pthread_condattr_destroy(&attributes);
    *out = queue;
    return 0;
}

static void drop_messages(struct picture_queue *queue)
{
    struct picture_message message;
    while (av_fifo_read(queue->messages, &message, 1) >= 0)
        av_frame_free(&message.picture.frame);
    queue->pictures = queue->bytes = 0;
    queue->first_pts_ns = NS_UNKNOWN;
}

void picture_queue_destroy(struct picture_queue **queue)
{
    if (!*queue)
        return;
    drop_messages(*queue);
    av_fifo_freep2(&(*queue)->messages);
    pthread_cond_destroy(&(*queue)->readable);
    pthread_cond_destroy(&(*queue)->writable);
    pthread_mutex_destroy(&(*queue)->lock);
    free(*queue);
    *queue = NULL;
}

static int64_t bytes_of(const AVFrame *frame)
{
    int64_t bytes = 0;
    for (int i = 0; i < AV_NUM_DATA_POINTERS && frame->buf[i]; i++)
        bytes += (int64_t)frame->buf[i]->size;
    for (int i = 0; i < frame->nb_extended_buf; i++)
        bytes += (int64_t)frame->extended_buf[i]->size;
    return bytes;
}

static int64_t span_ns(const struct picture_queue *queue)
{
    const int64_t span_ns = queue->first_pts_ns == NS_UNKNOWN ? 0 : queue->end_pts_ns - queue->first_pts_ns;
    return span_ns > 0 ? span_ns : 0; /* < 0: the time stamps jumped back in between */
}

static bool is_full(const struct picture_queue *queue)
{
    if (av_fifo_can_read(queue->messages) >= MESSAGES_MAX)
        return true;
    if (queue->pictures < PICTURES_MIN)
        return false;
    return queue->pictures >= queue->limit.pictures || span_ns(queue) >= queue->limit.span_ns ||
           queue->bytes > queue->limit.bytes - queue->largest_bytes;
}

/* Without a picture that waits, nobody would renew the allowance, and the next picture matters most. */
static bool must_save(const struct picture_queue *queue)
{
    const struct sync *const clock = &queue->clock.sync;
    return queue->pictures > 0 && clock->running && !clock->untimed &&
           !allowance_is_left(&queue->allowance, program_cpu_ns());
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ns_from_timespec(now);
}

static void wait_to_save(struct picture_queue *queue)
{
    const int64_t start_ns = now_ns();
    const int64_t presenting_ns = queue->clock.presenting_all_cpu_ns;
    pthread_cond_wait(&queue->writable, &queue->lock);
    queue->saving.wall_ns += now_ns() - start_ns;
    queue->saving.presenting_cpu_ns += queue->clock.presenting_all_cpu_ns - presenting_ns;
}

bool picture_queue_wait_for_room(struct picture_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->writer_waits = true;
    while (!queue->writing_stopped && (is_full(queue) || must_save(queue))) {
        if (is_full(queue))
            pthread_cond_wait(&queue->writable, &queue->lock);
        else
            wait_to_save(queue);
    }
    queue->writer_waits = false;
    const bool may_write = !queue->writing_stopped;
    pthread_mutex_unlock(&queue->lock);
    return may_write;
}

void picture_queue_wait_for_quota(struct picture_queue *queue)
{
    if (!atomic_load_explicit(&queue->has_quota, memory_order_relaxed)) /* this is called often */
        return;
    pthread_mutex_lock(&queue->lock);
    queue->writer_waits = true;
    while (!queue->writing_stopped && must_save(queue))
        pthread_cond_wait(&queue->writable, &queue->lock);
    queue->writer_waits = false;
    pthread_mutex_unlock(&queue->lock);
}

struct queue_saving picture_queue_take_saving(struct picture_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    const struct queue_saving saving = queue->saving;
    queue->saving = (struct queue_saving){0};
    pthread_mutex_unlock(&queue->lock);
    return saving;
}

static int push(struct picture_queue *queue, const struct picture_message *message)
{
    const int ret = av_fifo_write(queue->messages, message, 1) < 0 ? -ENOMEM : 0;
    pthread_cond_signal(&queue->readable);
    return ret;
}

int picture_queue_push_job(struct picture_queue *queue, const struct job_note *note)
{
    pthread_mutex_lock(&queue->lock);
    const int ret = push(queue, &(struct picture_message){.kind = MESSAGE_JOB, .job = *note});
    pthread_mutex_unlock(&queue->lock);
    return ret;
}

static void count_in(struct picture_queue *queue, const struct decoded_picture *picture)
{
    const int64_t bytes = bytes_of(picture->frame);
    queue->pictures++;
    queue->bytes += bytes;
    if (bytes > queue->largest_bytes)
        queue->largest_bytes = bytes;
    if (queue->first_pts_ns == NS_UNKNOWN)
        queue->first_pts_ns = picture->place.pts_ns;
    queue->end_pts_ns = picture->next_ns;
}

int picture_queue_push_picture(struct picture_queue *queue, struct decoded_picture *picture)
{
    struct picture_message message = {.kind = MESSAGE_PICTURE, .picture = *picture};
    message.picture.frame = av_frame_alloc();
    if (!message.picture.frame) {
        av_frame_unref(picture->frame);
        return -ENOMEM;
    }
    const bool is_marker = picture->abandoned || picture->place.unwanted;
    if (is_marker)
        av_frame_unref(picture->frame);
    av_frame_move_ref(message.picture.frame, picture->frame);
    pthread_mutex_lock(&queue->lock);
    const int ret = push(queue, &message);
    if (!ret && !is_marker)
        count_in(queue, &message.picture);
    pthread_mutex_unlock(&queue->lock);
    if (ret)
        av_frame_free(&message.picture.frame);
    return ret;
}

int picture_queue_push_end(struct picture_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->ended = true;
    const int ret = push(queue, &(struct picture_message){.kind = MESSAGE_END});
    pthread_mutex_unlock(&queue->lock);
    return ret;
}

static void note_use(struct picture_queue *queue)
{
    struct queue_use *const use = &queue->use;
    use->pictures_taken++;
    use->pictures_mean += (double)queue->pictures;
    if (queue->pictures > use->pictures_max)
        use->pictures_max = queue->pictures;
    if (queue->bytes > use->bytes_max)
        use->bytes_max = queue->bytes;
}

static void count_out(struct picture_queue *queue, const struct decoded_picture *picture)
{
    if (!picture->frame->buf[0])
        return; /* a marker */
    note_use(queue);
    allowance_renew(&queue->allowance, picture->due_ns, program_cpu_ns(), queue->clock.presenting_cpu_ns);
    queue->pictures--;
    queue->bytes -= bytes_of(picture->frame);
    queue->first_pts_ns = queue->pictures ? picture->next_ns : NS_UNKNOWN;
}

struct picture_message picture_queue_pop(struct picture_queue *queue, int64_t wait_ns)
{
    const struct timespec until = ns_to_timespec(now_ns() + wait_ns);
    struct picture_message message = {.kind = MESSAGE_NONE};
    pthread_mutex_lock(&queue->lock);
    int waited = 0;
    while (!av_fifo_can_read(queue->messages) && !waited)
        waited = pthread_cond_timedwait(&queue->readable, &queue->lock, &until);
    if (av_fifo_read(queue->messages, &message, 1) >= 0) {
        if (message.kind == MESSAGE_PICTURE)
            count_out(queue, &message.picture);
        if (queue->writer_waits)
            pthread_cond_signal(&queue->writable);
    }
    pthread_mutex_unlock(&queue->lock);
    return message;
}

struct queue_fill picture_queue_fill(struct picture_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    const struct queue_fill fill = {queue->pictures, queue->bytes, is_full(queue), queue->ended};
    pthread_mutex_unlock(&queue->lock);
    return fill;
}

/* Returns about how many pictures the queue holds when it is full. */
static int64_t room(const struct picture_queue *queue, struct frame_duration frame_duration)
{
    int64_t pictures = queue->limit.pictures;
    if (queue->limit.span_ns / frame_duration_ns(frame_duration) < pictures)
        pictures = queue->limit.span_ns / frame_duration_ns(frame_duration);
    if (queue->largest_bytes && queue->limit.bytes / queue->largest_bytes < pictures)
        pictures = queue->limit.bytes / queue->largest_bytes;
    return pictures > PICTURES_MIN ? pictures : PICTURES_MIN;
}

void picture_queue_waiting(struct picture_queue *queue, struct waiting_pictures *waiting, struct frame_duration frame_duration)
{
    struct picture_message message;
    waiting->due_ns.count = waiting->with_markers = 0;
    pthread_mutex_lock(&queue->lock);
    waiting->room = room(queue, frame_duration);
    for (size_t i = 0; av_fifo_peek(queue->messages, &message, 1, i) >= 0; i++) {
        if (message.kind != MESSAGE_PICTURE)
            continue;
        waiting->with_markers++;
        if (message.picture.frame->buf[0])
            times_insert(&waiting->due_ns, message.picture.due_ns);
    }
    pthread_mutex_unlock(&queue->lock);
}

struct queue_use picture_queue_use(struct picture_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    struct queue_use use = queue->use;
    pthread_mutex_unlock(&queue->lock);
    if (use.pictures_taken)
        use.pictures_mean /= (double)use.pictures_taken;
    return use;
}

/* The clock starts or stops. While it stands, decoding is not limited. */
static void note_clock_turn(struct picture_queue *queue, bool runs)
{
    if (runs)
        allowance_start(&queue->allowance, program_cpu_ns());
    else
        allowance_stop(&queue->allowance, program_cpu_ns());
    if (queue->writer_waits)
        pthread_cond_signal(&queue->writable);
}

static double quota_of(const struct stage_clock *clock)
{
    return clock->limits.cpus ? clock->limits.quota : INFINITY;
}

static void change_quota(struct picture_queue *queue, const struct stage_clock *clock)
{
    const double quota = quota_of(clock);
    const int64_t due_ns = queue->allowance.due_ns;
    const int64_t until_due_ns = due_ns == NS_UNKNOWN ? 0 : sync_wait_ns(&clock->sync, due_ns, now_ns());
    allowance_set_quota(&queue->allowance, quota, program_cpu_ns(), until_due_ns);
    atomic_store_explicit(&queue->has_quota, !isinf(quota), memory_order_relaxed);
    if (queue->writer_waits)
        pthread_cond_signal(&queue->writable);
}

void picture_queue_set_clock(struct picture_queue *queue, const struct stage_clock *clock)
{
    pthread_mutex_lock(&queue->lock);
    if (quota_of(clock) != quota_of(&queue->clock))
        change_quota(queue, clock);
    if (clock->sync.running != queue->clock.sync.running)
        note_clock_turn(queue, clock->sync.running);
    queue->clock = *clock;
    pthread_mutex_unlock(&queue->lock);
}

struct stage_clock picture_queue_clock(struct picture_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    const struct stage_clock clock = queue->clock;
    pthread_mutex_unlock(&queue->lock);
    return clock;
}

void picture_queue_stop_writing(struct picture_queue *queue, bool on)
{
    pthread_mutex_lock(&queue->lock);
    queue->writing_stopped = on;
    pthread_cond_signal(&queue->writable);
    pthread_mutex_unlock(&queue->lock);
}

void picture_queue_clear(struct picture_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    drop_messages(queue);
    queue->ended = false;
    allowance_restart(&queue->allowance); /* what follows may be due at any time */
    pthread_mutex_unlock(&queue->lock);
}
