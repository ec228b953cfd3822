/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rows of a run while it is running: memory that is reserved ahead of the playback thread.
 *
 * The feeder reserves (frame_log_reserve) before it hands over a packet, so that the main thread never allocates when it
 * appends. Rows stay where they are until frame_log_destroy. A log that is not kept reuses its memory in a circle: enough
 * for the pictures in flight.
 */
#ifndef PLAYER_FRAME_LOG_H
#define PLAYER_FRAME_LOG_H

#include "frame_record.h"

#include <stdbool.h>
#include <stdint.h>

struct frame_row {
    struct frame_record record;
    int segment;      /* a seek begins a new one */
    bool out;         /* a picture of this packet came out of the decoder */
    bool interlaced;  /* … and it holds two fields, perhaps of two packets */
    bool give_up;     /* the policy's order for it: refuse or do not present */
    bool unwanted;    /* outside the part that is played: verdict none whatever happens */
};

struct frame_log;

/* keep: the rows are wanted at the end. Returns 0 or -ENOMEM. frame_log_destroy accepts an empty pointer and clears it. */
int frame_log_create(struct frame_log **out, bool keep);
void frame_log_destroy(struct frame_log **log);

/*
 * The feeder, once for each packet that it is about to hand over: makes sure that all packets handed over find memory,
 * however far ahead they are. Returns 0 or -ENOMEM.
 */
int frame_log_reserve(struct frame_log *log);

/* Main thread: a new empty row, or NULL if nothing was reserved (the row is then not recorded). */
struct frame_row *frame_log_append(struct frame_log *log);

/*
 * Main thread, when playing has ended: merges the second packet of a picture whose fields came apart, sorts the rows into
 * presentation order (segment, PTS, decode order), numbers them. *rows belongs to the caller (free); rows that were never
 * decoded and from which no picture came out are not among them. Returns their number or -ENOMEM.
 */
int64_t frame_log_finish(const struct frame_log *log, struct frame_record **rows);

#endif
