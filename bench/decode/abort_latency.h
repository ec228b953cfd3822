/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures how soon an expired deadline gets control while a droppable picture is decoded, and how soon
 * the kernel gets it in a signal handler. For the second, a raw timer is measured after each packet, in
 * the same thread, with the same delay.
 *
 * There are two ways (see patches/README.md). With the jump, each packet is decoded in a deadline block;
 * all but the gate is protected, as in the player. With the poll, the decoder asks before each row
 * whether to go on, in the thread that decodes the picture. A violation falls into one of two groups:
 *  - inside: it was taken inside the macroblocks of a droppable picture. Its latency is the time from
 *    the deadline to control in the gate callback, or to the next question.
 *  - after a wait: the deadline passed where the decoder must not be left (headers, reference
 *    pictures, output). It was taken when that protected section ended, or at a picture's first question.
 *    Its latency is the section's length past the deadline, not a property of the mechanism.
 */
#ifndef ABORT_LATENCY_H
#define ABORT_LATENCY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coded_stream.h"

struct samples {
    double *ns;
    size_t count;
    size_t capacity;
};

enum abort_way {
    ABORT_BY_JUMP,
    ABORT_BY_POLL,
};

struct abort_latency {
    /* input */
    enum abort_way way;
    int threads;              /* 1: the calling thread decodes; more, by poll: frame threads */
    bool rests;               /* a tenth of the time, so that the kernel does not stop a thread of SCHED_FIFO */
    int64_t deadline_base_ns; /* from the start of a packet's decode */
    int wanted_aborts;
    int most_passes;          /* at most this many passes over the clip */

    /* results, in order of time; latency_finish() frees them */
    struct samples inside_ns;  /* violation inside a droppable picture */
    struct samples waited_ns;  /* violation after a wait */
    struct samples raw_ns;     /* raw timer to its handler */
    struct samples row_ns;     /* poll: from one question to the next */
    int passes;

    pthread_mutex_t lock; /* of the results, while frame threads may ask */
};

/*
 * Decodes the stream again and again, until wanted_aborts have happened inside droppable pictures, or
 * most_passes are done. Returns 0 or a negative AVERROR.
 */
int latency_measure(struct abort_latency *latency, const struct coded_stream *stream);

void latency_finish(struct abort_latency *latency);

#endif
