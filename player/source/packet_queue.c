/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "packet_queue.h"

#include "clip.h"
#include "droppable.h"
#include "ns.h"

#include <errno.h>
#include <libavutil/fifo.h>
#include <libavutil/mathematics.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum {
    FIRST_ROOM = 256,
    /* What they take beside their data: structs, padding, and what malloc adds. Measured with glibc: 302 to 318, and 86. */
    PACKET_OVERHEAD_BYTES = 320,
    SIDE_DATA_OVERHEAD_BYTES = 96,
};

struct packet_queue {
    pthread_mutex_t lock;   /* guards everything below; taken by the feeder, the reader and the main thread */
    pthread_cond_t changed; /* something was pushed, taken, ended or cancelled; CLOCK_MONOTONIC */
    AVFifo *packets;        /* elements are AVPacket * */
    int64_t bytes; /* see queue_packet_bytes */
    struct packet_queue_settings settings; /* not changed */
    struct droppable droppable; /* not under the lock: the feeder's, and the main thread's while no feeder runs */
    bool full; /* a push waits for room */
    bool stalled;       /* see queue_note_stall */
    bool stall_is_seen; /* the reader knows it since the last packet */
    bool ended;
    bool cancelled;
    bool reading_stopped;
};

int queue_create(struct packet_queue **out, const struct packet_queue_settings *settings)
{
    struct packet_queue *const queue = calloc(1, sizeof *queue);
    if (!queue)
        return -ENOMEM;
    queue->packets = av_fifo_alloc2(FIRST_ROOM, sizeof(AVPacket *), 0);
    if (!queue->packets) {
        free(queue);
        return -ENOMEM;
    }
    queue->settings = *settings;
    droppable_init(&queue->droppable, settings->source->codecpar);
    pthread_mutex_init(&queue->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&queue->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    *out = queue;
    return 0;
}

int64_t queue_packet_bytes(const AVPacket *packet)
{
    int64_t bytes = PACKET_OVERHEAD_BYTES + packet->size;
    for (int i = 0; i < packet->side_data_elems; i++)
        bytes += SIDE_DATA_OVERHEAD_BYTES + (int64_t)packet->side_data[i].size;
    return bytes;
}

/* Counts a packet that came in (sign 1) or that leaves (-1). */
static void count(struct packet_queue *queue, const AVPacket *packet, int sign)
{
    const struct packet_queue_settings *const settings = &queue->settings;
    const AVRational ns = {1, NS_PER_S};
    const int64_t own_ns = packet->duration > 0 ? av_rescale_q(packet->duration, settings->source->time_base, ns) : 0;
    queue->bytes += sign * queue_packet_bytes(packet);
    read_ahead_add(settings->ahead, settings->stream, sign * (own_ns > 0 ? own_ns : settings->packet_ns));
}

static void drop_packets(struct packet_queue *queue)
{
    AVPacket *packet;
    while (av_fifo_read(queue->packets, &packet, 1) >= 0) {
        count(queue, packet, -1);
        av_packet_free(&packet);
    }
}

void queue_destroy(struct packet_queue **queue)
{
    if (!*queue)
        return;
    drop_packets(*queue);
    av_fifo_freep2(&(*queue)->packets);
    pthread_cond_destroy(&(*queue)->changed);
    pthread_mutex_destroy(&(*queue)->lock);
    free(*queue);
    *queue = NULL;
}

static bool has_no_room(const struct packet_queue *queue, int64_t bytes)
{
    return av_fifo_can_read(queue->packets) && queue->bytes + bytes > queue->settings.limit_bytes;
}

static void wait_for_room(struct packet_queue *queue, int64_t bytes)
{
    while (!queue->cancelled && has_no_room(queue, bytes)) {
        queue->full = true;
        pthread_cond_wait(&queue->changed, &queue->lock);
    }
    queue->full = false;
}

/* A packet that points here begins an intra refresh. */
static char gradual;

/* The headers are read here, in the feeder's thread. What the file itself says about it is not used: it may be wrong. */
static void mark_droppable(struct packet_queue *queue, AVPacket *packet)
{
    packet->flags &= ~AV_PKT_FLAG_DISPOSABLE;
    if (droppable_packet(&queue->droppable, packet))
        packet->flags |= AV_PKT_FLAG_DISPOSABLE;
    packet->opaque = queue->droppable.gradual ? &gradual : NULL;
}

/* FFmpeg's own growth ends at 131,072 packets: that is half an hour of some sound. */
static int grow(struct packet_queue *queue)
{
    return av_fifo_can_write(queue->packets) ? 0 : av_fifo_grow2(queue->packets, av_fifo_can_read(queue->packets));
}

static int push_locked(struct packet_queue *queue, AVPacket *packet)
{
    wait_for_room(queue, queue_packet_bytes(packet));
    if (queue->cancelled)
        return -ECANCELED;
    AVPacket *kept = av_packet_alloc();
    if (!kept || grow(queue) < 0) {
        av_packet_free(&kept);
        return -ENOMEM;
    }
    av_packet_move_ref(kept, packet);
    av_fifo_write(queue->packets, &kept, 1);
    count(queue, kept, 1);
    queue->stall_is_seen = false;
    pthread_cond_broadcast(&queue->changed);
    return 0;
}

int queue_push(struct packet_queue *queue, AVPacket *packet)
{
    mark_droppable(queue, packet); /* not under the lock: it reads the whole packet */
    pthread_mutex_lock(&queue->lock);
    const int ret = push_locked(queue, packet);
    pthread_mutex_unlock(&queue->lock);
    av_packet_unref(packet);
    return ret;
}

void queue_push_end(struct packet_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->ended = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

bool queue_has_no_room_for(struct packet_queue *queue, const AVPacket *packet)
{
    pthread_mutex_lock(&queue->lock);
    const bool none = has_no_room(queue, queue_packet_bytes(packet));
    pthread_mutex_unlock(&queue->lock);
    return none;
}

void queue_note_stall(struct packet_queue *queue, bool on)
{
    pthread_mutex_lock(&queue->lock);
    queue->stalled = on;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

static bool has_news_of_stall(const struct packet_queue *queue)
{
    return queue->stalled && !queue->stall_is_seen;
}

static struct timespec time_after(int64_t wait_ns)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ns_to_timespec(ns_from_timespec(now) + wait_ns);
}

static void wait_for_packet(struct packet_queue *queue, int64_t wait_ns)
{
    const bool for_ever = wait_ns == QUEUE_WAIT_FOR_EVER;
    const struct timespec until = time_after(for_ever ? 0 : wait_ns);
    int waited = 0;
    while (!av_fifo_can_read(queue->packets) && !queue->ended && !queue->reading_stopped && !has_news_of_stall(queue) && !waited)
        waited = for_ever ? pthread_cond_wait(&queue->changed, &queue->lock)
                          : pthread_cond_timedwait(&queue->changed, &queue->lock, &until);
}

static enum queue_status take(struct packet_queue *queue, AVPacket **packet)
{
    if (queue->reading_stopped)
        return QUEUE_EMPTY;
    if (av_fifo_read(queue->packets, packet, 1) < 0) {
        const bool is_stall = !queue->ended && has_news_of_stall(queue);
        queue->stall_is_seen |= is_stall;
        return queue->ended ? QUEUE_DRAINED : is_stall ? QUEUE_STALLED : QUEUE_EMPTY;
    }
    count(queue, *packet, -1);
    pthread_cond_broadcast(&queue->changed);
    return QUEUE_PACKET;
}

enum queue_status queue_pop(struct packet_queue *queue, AVPacket **packet, int64_t wait_ns)
{
    pthread_mutex_lock(&queue->lock);
    wait_for_packet(queue, wait_ns);
    const enum queue_status status = take(queue, packet);
    pthread_mutex_unlock(&queue->lock);
    return status;
}

bool packet_begins_whole(const AVPacket *packet)
{
    return (packet->flags & AV_PKT_FLAG_KEY) && packet->opaque != &gradual;
}

struct packet_glance queue_glance(const struct packet_queue *queue, const AVPacket *packet)
{
    const AVStream *const source = queue->settings.source;
    return (struct packet_glance){
        .pts_ns = clip_pts_ns(source, packet->pts),
        .dts_ns = clip_pts_ns(source, packet->dts),
        .size_bytes = packet->size,
        .key = packet_begins_whole(packet),
        .droppable = packet->flags & AV_PKT_FLAG_DISPOSABLE,
        .discarded = packet->flags & AV_PKT_FLAG_DISCARD,
    };
}

int queue_peek(struct packet_queue *queue, struct packet_glance *glances, int count)
{
    int seen = 0;
    AVPacket *packet;
    pthread_mutex_lock(&queue->lock);
    while (seen < count && av_fifo_peek(queue->packets, &packet, 1, (size_t)seen) >= 0)
        glances[seen++] = queue_glance(queue, packet);
    pthread_mutex_unlock(&queue->lock);
    return seen;
}

void queue_stop_reading(struct packet_queue *queue, bool on)
{
    pthread_mutex_lock(&queue->lock);
    queue->reading_stopped = on;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

bool queue_is_full(struct packet_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    const bool full = queue->full;
    pthread_mutex_unlock(&queue->lock);
    return full;
}

bool queue_is_empty(struct packet_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    const bool empty = !av_fifo_can_read(queue->packets);
    pthread_mutex_unlock(&queue->lock);
    return empty;
}

bool queue_lacks_packets(struct packet_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    const bool lacks = !av_fifo_can_read(queue->packets) && !queue->ended;
    pthread_mutex_unlock(&queue->lock);
    return lacks;
}

void queue_cancel(struct packet_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->cancelled = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

void queue_reset(struct packet_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    drop_packets(queue);
    queue->ended = queue->cancelled = queue->stalled = queue->stall_is_seen = false;
    pthread_mutex_unlock(&queue->lock);
    droppable_flush(&queue->droppable);
}
