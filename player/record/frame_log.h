/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rows of a run while it is running, in memory that is reserved before the playback thread needs it.
 *
 * The feeder reserves (frame_log_reserve) before it hands over a packet, so that the main thread never allocates when it
 * appends. Rows do not move until frame_log_destroy. A log that is not kept reuses its memory as a ring, which is large
 * enough for the pictures in flight.
 */
#ifndef PLAYER_FRAME_LOG_H
#define PLAYER_FRAME_LOG_H

#include "frame_record.h"

#include <stdbool.h>
#include <stdint.h>

struct frame_row {
    struct frame_record record;
    int segment;      /* a seek begins a new one */
    bool out;         /* a picture of this packet came out of the decoder, or the packet was passed over */
    bool interlaced;  /* … and the picture holds two fields, perhaps from two packets */
    bool give_up;     /* the policy's order for the picture was to refuse it or not to present it */
    bool is_starting; /* see decode_policy_is_starting, after the order */
    bool unwanted;    /* outside the part that is played: the verdict is always none */
};

struct frame_log;

/*
 * Creates a log. keep: the rows are wanted at the end. Returns 0 or -ENOMEM. frame_log_destroy accepts an empty pointer
 * and clears it.
 */
int frame_log_create(struct frame_log **out, bool keep);
void frame_log_destroy(struct frame_log **log);

/*
 * Feeder: call once before handing over each packet. Reserves memory for the rows of all packets handed over, however
 * far the feeder is ahead. Returns 0 or -ENOMEM.
 */
int frame_log_reserve(struct frame_log *log);

/* Main thread: returns a new empty row, or NULL if nothing was reserved (the row is then not recorded). */
struct frame_row *frame_log_append(struct frame_log *log);

/*
 * Main thread, when playing has ended: merges the second packet of a picture whose fields came in two packets, sorts
 * the rows into presentation order (segment, PTS, decode order) and numbers them. The caller owns *rows (free). Rows
 * that were never decoded and from which no picture came out are not included. Returns the number of rows or -ENOMEM.
 */
int64_t frame_log_finish(const struct frame_log *log, struct frame_record **rows);

#endif
