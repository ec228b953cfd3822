/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoded pictures on their way from the decode thread to the presenter, and the clock on its way back.
 *
 * One writer (the decode thread) and one reader (the main thread). Messages come out in the order in which they went in:
 * the note of a job before the pictures that it released. Pictures are moved, never copied. Only pictures that can be
 * shown count towards the limit. An abandoned one is a marker: its memory is released when it goes in.
 */
#ifndef PLAYER_PICTURE_QUEUE_H
#define PLAYER_PICTURE_QUEUE_H

#include "decode_job.h"
#include "frame_duration.h"
#include "stage_clock.h"
#include "times.h"

#include <stdbool.h>
#include <stdint.h>

struct picture_queue;

/* The queue is full when one of the limits is reached, but never with fewer than two pictures. INT64_MAX: no limit. */
struct queue_limit {
    int64_t pictures;
    int64_t bytes;   /* memory of the pictures */
    int64_t span_ns; /* from the first picture's PTS to the end of the last one */
};

enum picture_message_kind {
    MESSAGE_NONE,    /* no message came in the given time */
    MESSAGE_JOB,     /* a packet was decoded */
    MESSAGE_PICTURE, /* a picture came out, or a marker */
    MESSAGE_END,     /* no message follows: every packet was decoded, and the decoder holds no picture back */
};

struct picture_message {
    enum picture_message_kind kind;
    struct job_note job;            /* of MESSAGE_JOB */
    struct decoded_picture picture; /* of MESSAGE_PICTURE: the reader owns the frame (av_frame_free) */
};

/* How full the queue is now. */
struct queue_fill {
    int64_t pictures; /* that can be shown */
    int64_t bytes;
    bool full;
    bool ended; /* the writer has sent its last message */
};

/* What waits in the queue. */
struct waiting_pictures {
    struct times due_ns; /* PTS at which those are due that can be shown */
    int with_markers;    /* the number of all */
    int64_t room;        /* about how many that can be shown the queue holds when it is full */
};

/* How the queue was used since it was created. */
struct queue_use {
    int64_t pictures_taken;
    double pictures_mean; /* in the queue when one was taken, with that one */
    int64_t pictures_max;
    int64_t bytes_max;
};

/* Returns 0 or -ENOMEM. picture_queue_destroy accepts an empty pointer and clears it. */
int picture_queue_create(struct picture_queue **out, const struct queue_limit *limit);
void picture_queue_destroy(struct picture_queue **queue);

/*
 * Writer: blocks while the queue is full, and while pictures wait and the presenter needs the rest of the quota (see
 * allowance.h). Returns false when writing was stopped. It wakes up for each picture that is presented, and when the clock starts
 * or stops, or the quota changes (picture_queue_set_clock).
 */
bool picture_queue_wait_for_room(struct picture_queue *queue);

/*
 * Writer, in the middle of a decode: blocks while pictures wait and the presenter needs the rest of the quota, until writing is
 * stopped. Without a quota it returns at once.
 */
void picture_queue_wait_for_quota(struct picture_queue *queue);

/* How long the writer has blocked for the quota's sake between decodes, and the CPU time that presenting used meanwhile. */
struct queue_saving {
    int64_t wall_ns;
    int64_t presenting_cpu_ns;
};

/* Writer: returns that of the time since the last call. */
struct queue_saving picture_queue_take_saving(struct picture_queue *queue);

/*
 * Writer: sends a message. They do not block, so that what one packet released always fits. The frame is moved, and
 * blank afterwards, also on failure. Return 0 or -ENOMEM.
 */
int picture_queue_push_job(struct picture_queue *queue, const struct job_note *note);
int picture_queue_push_picture(struct picture_queue *queue, struct decoded_picture *picture);
int picture_queue_push_end(struct picture_queue *queue);

/* Reader: waits up to wait_ns for a message. */
struct picture_message picture_queue_pop(struct picture_queue *queue, int64_t wait_ns);

/* Reader: returns how full the queue is. */
struct queue_fill picture_queue_fill(struct picture_queue *queue);

/* Writer: fills in what waits now. frame_duration: about the time from one picture to the next. */
void picture_queue_waiting(struct picture_queue *queue, struct waiting_pictures *waiting, struct frame_duration frame_duration);

/* Reader: returns how the queue was used. Seeks and picture_queue_clear do not begin it anew. */
struct queue_use picture_queue_use(struct picture_queue *queue);

/* Reader: sets the clock and the limits of CPU time for the writer's decisions. Writer: returns the clock that was set last. */
void picture_queue_set_clock(struct picture_queue *queue, const struct stage_clock *clock);
struct stage_clock picture_queue_clock(struct picture_queue *queue);

/* Reader: while on, picture_queue_wait_for_room returns false at once. */
void picture_queue_stop_writing(struct picture_queue *queue, bool on);

/* Reader, while no writer runs: empties the queue. */
void picture_queue_clear(struct picture_queue *queue);

#endif
