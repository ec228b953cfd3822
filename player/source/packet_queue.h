/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compressed video on its way from the feeder thread to the main thread. One writer, one reader.
 */
#ifndef PLAYER_PACKET_QUEUE_H
#define PLAYER_PACKET_QUEUE_H

#include <libavcodec/packet.h>
#include <stdbool.h>
#include <stdint.h>

struct packet_queue;

enum queue_status {
    QUEUE_PACKET,  /* *packet belongs to the caller: av_packet_free */
    QUEUE_EMPTY,   /* nothing within the time given */
    QUEUE_DRAINED, /* the end was pushed, and everything before it was taken */
};

/* Holds at most limit_bytes (at least one packet). Returns 0 or -ENOMEM. destroy accepts an empty pointer, clears it. */
int queue_create(struct packet_queue **out, int64_t limit_bytes);
void queue_destroy(struct packet_queue **queue);

/*
 * Feeder: moves the packet's reference into the queue; *packet is blank afterwards, also on failure. Blocks while the
 * queue is full. Returns 0, -ENOMEM, or -ECANCELED after queue_cancel.
 */
int queue_push(struct packet_queue *queue, AVPacket *packet);

/* Feeder: nothing follows. */
void queue_push_end(struct packet_queue *queue);

/* Main thread: waits up to wait_ns for a packet. */
enum queue_status queue_pop(struct packet_queue *queue, AVPacket **packet, int64_t wait_ns);

/* Main thread: whether queue_push is blocked, so that the feeder brings nothing else either, no sound for example. */
bool queue_is_full(struct packet_queue *queue);

/* Main thread: a blocked queue_push returns, and later ones do not block but fail, until queue_reset. */
void queue_cancel(struct packet_queue *queue);

/* Main thread, while no feeder runs: empty and usable again. */
void queue_reset(struct packet_queue *queue);

#endif
