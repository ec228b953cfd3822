/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How far the file was read ahead of the decoders. The feeder rests when every stream that is played has enough packets
 * waiting, so a long file does not fill the memory. While one stream lacks packets, the others are read as well.
 *
 * The queues of packets count what they hold; the feeder waits. All functions are thread-safe.
 */
#ifndef PLAYER_READ_AHEAD_H
#define PLAYER_READ_AHEAD_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The feeder rests when every stream has the first length, and reads on when one has less than the second. A stall of a disk
 * or a network lasts some seconds; a seek throws away what was read.
 */
#define READ_AHEAD_ENOUGH_NS INT64_C(5000000000)
#define READ_AHEAD_LITTLE_NS INT64_C(3000000000)

enum read_stream { READ_VIDEO, READ_SOUND, READ_STREAMS };

struct read_ahead;

/* Returns 0 or -ENOMEM. read_ahead_destroy accepts an empty pointer and clears it. */
int read_ahead_create(struct read_ahead **out);
void read_ahead_destroy(struct read_ahead **ahead);

/* Main thread, while no feeder runs: which streams are read. A stream that has ended is no longer wanted. */
void read_ahead_want(struct read_ahead *ahead, enum read_stream stream, bool wanted);

/* A packet of this length in ns was put into a queue; a negative length: it was taken out. */
void read_ahead_add(struct read_ahead *ahead, enum read_stream stream, int64_t length_ns);

/* Feeder: waits while every wanted stream has enough. Then nobody wakes up until one of them is nearly half used. */
void read_ahead_wait(struct read_ahead *ahead);

/*
 * Returns whether no packet of a wanted stream came although much of the other stream was read: 3 s more than ever before since the file
 * was opened, because the packets of one time may lie far apart in the file. The stream has a gap, or has ended early.
 */
bool read_ahead_misses(struct read_ahead *ahead, enum read_stream stream);

/* Main thread: while on, read_ahead_wait returns at once. */
void read_ahead_cancel(struct read_ahead *ahead, bool on);

#endif
