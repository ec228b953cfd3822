/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packets of one stream on their way from the feeder thread to the reader: the thread that decodes. One writer, one
 * reader.
 */
#ifndef PLAYER_PACKET_QUEUE_H
#define PLAYER_PACKET_QUEUE_H

#include "read_ahead.h"

#include <libavcodec/packet.h>
#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stdint.h>

struct packet_queue;

#define QUEUE_WAIT_FOR_EVER INT64_MAX

/* What a packet that waits says about its picture. Time stamps are in ns of the stream, or NS_UNKNOWN. */
struct packet_glance {
    int64_t pts_ns;
    int64_t dts_ns;
    int64_t size_bytes;
    bool key;       /* decoding may begin here, and whole pictures come out at once */
    bool droppable; /* see droppable.h */
    bool discarded; /* its picture is decoded and not shown, see packet_times in pace.h */
};

enum queue_status {
    QUEUE_PACKET,  /* *packet belongs to the caller: av_packet_free */
    QUEUE_EMPTY,   /* no packet came within the given time, or reading was stopped */
    QUEUE_DRAINED, /* the end was pushed, and everything before it was taken */
    QUEUE_STALLED, /* none comes before the other stream's packets are used, see queue_note_stall; only once in a row */
};

struct packet_queue_settings {
    int64_t limit_bytes;       /* of memory, see queue_packet_bytes; the queue may be larger with a single packet */
    struct read_ahead *ahead;  /* counts the packets' lengths; it must outlive the queue */
    enum read_stream stream;
    const AVStream *source;    /* where the packets come from; it must outlive the queue */
    int64_t packet_ns;         /* length of a packet that does not say it */
};

/* Returns 0 or -ENOMEM. queue_destroy accepts an empty pointer and clears it. */
int queue_create(struct packet_queue **out, const struct packet_queue_settings *settings);
void queue_destroy(struct packet_queue **queue);

/* Returns the memory that a packet takes in the queue: also a packet without data takes some, so the limit is one of their number too. */
int64_t queue_packet_bytes(const AVPacket *packet);

/*
 * Feeder: moves the packet's reference into the queue; *packet is blank afterwards, also on failure. Blocks while the
 * queue is full. Returns 0, -ENOMEM, or -ECANCELED after queue_cancel.
 */
int queue_push(struct packet_queue *queue, AVPacket *packet);

/* Feeder: no packet follows. */
void queue_push_end(struct packet_queue *queue);

/* Feeder: returns whether queue_push would block now. */
bool queue_has_no_room_for(struct packet_queue *queue, const AVPacket *packet);

/*
 * Feeder: while on, it waits for room in another queue, so no packet can come. The reader is woken if it waits. A decoder should
 * give out what it holds back then: it may have the last pictures of a film whose sound goes on for hours.
 */
void queue_note_stall(struct packet_queue *queue, bool on);

/* Reader: waits up to wait_ns for a packet. With QUEUE_WAIT_FOR_EVER nobody wakes up meanwhile. */
enum queue_status queue_pop(struct packet_queue *queue, AVPacket **packet, int64_t wait_ns);

/*
 * Returns whether decoding may begin with a packet that came out of a queue, so that whole pictures come out at once: a key
 * packet that does not begin an intra refresh. Only until it is decoded.
 */
bool packet_begins_whole(const AVPacket *packet);

/* Returns the glance of a packet that came out of the queue. */
struct packet_glance queue_glance(const struct packet_queue *queue, const AVPacket *packet);

/*
 * Reader: looks at the next packets without taking them. Returns how many of them it wrote to glances: at most count.
 * They are few if the file is read slowly.
 */
int queue_peek(struct packet_queue *queue, struct packet_glance *glances, int count);

/* Main thread: while on, queue_pop returns QUEUE_EMPTY at once. */
void queue_stop_reading(struct packet_queue *queue, bool on);

/*
 * Main thread: returns whether queue_push is blocked, in which case the feeder delivers nothing else either, e.g.
 * sound.
 */
bool queue_is_full(struct packet_queue *queue);

/* Main thread: returns whether no packet waits. */
bool queue_is_empty(struct packet_queue *queue);

/* Main thread: returns whether no packet waits, and the end was not pushed. */
bool queue_lacks_packets(struct packet_queue *queue);

/* Main thread or reader: makes a blocked queue_push return. Until queue_reset, later calls fail instead of blocking. */
void queue_cancel(struct packet_queue *queue);

/* Main thread, while no feeder runs: empties the queue and makes it usable again. */
void queue_reset(struct packet_queue *queue);

#endif
