/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One decode of a whole stream through a chosen gate. It returns a fingerprint of every picture that came
 * out of the decoder; the bit-exact tests compare these.
 */
#ifndef DECODE_PASS_H
#define DECODE_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "coded_stream.h"

struct fingerprint {
    int64_t pts;
    int64_t packet; /* index of the picture's first packet, passed through AVFrame.opaque */
    enum AVPictureType type;
    bool droppable;
    bool abandoned;
    bool damaged; /* the decoder reported or concealed errors */
    uint8_t hash[16]; /* hash of the visible samples of all planes; 0 if abandoned */
};

enum gate_policy {
    GATE_NONE,   /* AVCodecContext.gate is NULL */
    GATE_OPEN,   /* every run is called, none interrupted */
    GATE_REFUSE, /* no run is called */
    GATE_RANDOM, /* runs are called, refused, or interrupted after a random time; each packet has
                  * its own deadline block, whose violations are only counted */
};

struct decode_pass {
    /* set by the caller */
    enum gate_policy policy;
    uint64_t seed;           /* GATE_RANDOM: seed of the deadlines */
    int64_t longest_run_ns;  /* GATE_RANDOM: the longest random deadline */

    /* result; pictures in order of output */
    struct fingerprint *pictures;
    size_t picture_count;
    int64_t run_count;       /* runs that were not interrupted */
    int64_t run_total_ns;    /* the total time of these runs */
    int64_t interrupted_count;
    int64_t refused_count;
    int64_t late_count;      /* GATE_RANDOM: packets whose deadline passed */
    int64_t rejected_count;  /* packets that the decoder rejected as invalid */
    int64_t stray_count;     /* calls of the gate where it must not be called: see decode_pass.c */
    int64_t log_count;       /* messages of the decoder, warnings and worse */
};

/*
 * Decodes the stream in the calling thread. Returns 0, or a negative AVERROR. In both
 * cases the caller frees the pass by pass_finish().
 */
int pass_decode(struct decode_pass *pass, const struct coded_stream *stream);

void pass_finish(struct decode_pass *pass);

#endif
