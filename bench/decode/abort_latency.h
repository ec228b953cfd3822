/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How soon an expired deadline has control in the gate, beside how soon the kernel has it in a
 * signal handler: a raw timer is measured after each packet, in the same thread, at the same delay.
 *
 * Each packet is decoded in a deadline block, protected but for the gate, as in the player. A
 * violation falls into one of two groups:
 *  - in the gate: taken inside the macroblocks of a droppable picture. Its latency is the time
 *    from the deadline to control in the gate callback.
 *  - after a wait: the deadline passed where the decoder must not be left (headers, reference
 *    pictures, output), and was taken when that protected section ended. That is the section's
 *    length past the deadline, not a property of the mechanism.
 */
#ifndef ABORT_LATENCY_H
#define ABORT_LATENCY_H

#include <stddef.h>
#include <stdint.h>

#include "coded_stream.h"

struct samples {
    double *ns;
    size_t count;
    size_t capacity;
};

struct abort_latency {
    /* given */
    int64_t deadline_base_ns; /* from the start of a packet's decode */
    int wanted_aborts;
    int most_passes;          /* over the clip */

    /* result, in order of time; latency_finish() frees it */
    struct samples gate_ns;    /* violation in the gate */
    struct samples waited_ns;  /* violation after a wait */
    struct samples raw_ns;     /* raw timer to its handler */
    int passes;
};

/*
 * Decodes the stream in the calling thread, over and over, until wanted_aborts were taken in the
 * gate or most_passes are over. Returns 0 or a negative AVERROR.
 */
int latency_measure(struct abort_latency *latency, const struct coded_stream *stream);

void latency_finish(struct abort_latency *latency);

#endif
