/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One decode of a whole stream through a chosen gate, and a fingerprint of every
 * picture that came out: what the bit-exact tests compare.
 */
#ifndef DECODE_PASS_H
#define DECODE_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "coded_stream.h"

struct fingerprint {
    int64_t pts;
    int64_t packet; /* index of the packet that began the picture, through AVFrame.opaque */
    enum AVPictureType type;
    bool droppable;
    bool abandoned;
    bool damaged; /* the decoder reported errors, or concealed some */
    uint8_t hash[16]; /* of the visible samples of all planes, 0 when abandoned */
};

enum gate_policy {
    GATE_NONE,   /* AVCodecContext.gate is NULL */
    GATE_OPEN,   /* every run is called, none interrupted */
    GATE_REFUSE, /* no run is called */
    GATE_RANDOM, /* runs are called, refused, or interrupted after a random time, each packet
                  * in a deadline block of its own, whose violations are only counted */
};

struct decode_pass {
    /* given */
    enum gate_policy policy;
    uint64_t seed;           /* GATE_RANDOM: of the deadlines */
    int64_t longest_run_ns;  /* GATE_RANDOM: deadlines are drawn up to this */

    /* result; pictures in order of output */
    struct fingerprint *pictures;
    size_t picture_count;
    int64_t run_count;       /* runs that ended by themselves */
    int64_t run_total_ns;    /* and how long they took */
    int64_t interrupted_count;
    int64_t refused_count;
    int64_t late_count;      /* GATE_RANDOM: packets whose deadline passed */
    int64_t rejected_count;  /* packets that the decoder called invalid */
    int64_t stray_count;     /* gate called where it must not be: see decode_pass.c */
    int64_t log_count;       /* messages of the decoder, warnings and worse */
};

/*
 * Decodes the stream in the calling thread. Returns 0, or a negative AVERROR; the pass is to be
 * freed by pass_finish() either way.
 */
int pass_decode(struct decode_pass *pass, const struct coded_stream *stream);

void pass_finish(struct decode_pass *pass);

#endif
