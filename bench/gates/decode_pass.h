/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One decode of a whole stream in which droppable pictures are given up, or none is. It returns a fingerprint of every
 * picture that came out of the decoder. To compare two passes, see pass_difference.h.
 */
#ifndef DECODE_PASS_H
#define DECODE_PASS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "coded_stream.h"
#include "picture_hash.h"

/* How pictures are given up. */
enum gate_way {
    WAY_JUMP,     /* through AVCodecContext.gate, at any instruction */
    WAY_POLL,     /* by AVCodecContext.abandon */
    WAY_WITHHOLD, /* AV1: the decoder does not get them */
};

struct decode_mode {
    enum gate_way way;
    int threads;
    int thread_type; /* FF_THREAD_FRAME or FF_THREAD_SLICE; any with one thread */
};

/* Which pictures are given up. */
enum pass_policy {
    PASS_PLAIN,  /* none: the callbacks are not set, and all packets are sent */
    PASS_OPEN,   /* none: the callbacks let every decode go on */
    PASS_REFUSE, /* all droppable ones, before the first block */
    PASS_RANDOM, /* some of them, before the first block or later */
};

/* A jump to another place of the stream. Zero: the stream is decoded from begin to end. */
struct pass_seek {
    size_t after; /* packets that are sent before it; then the decoder is flushed */
    size_t to;    /* the packet that is sent next */
};

struct fingerprint {
    int64_t pts;
    int64_t packet; /* index of the picture's first packet, passed through AVFrame.opaque; -1: lost */
    enum AVPictureType type;
    int width;
    int height;
    bool droppable;
    bool abandoned;
    bool damaged; /* the decoder reported or concealed errors */
    int captions;             /* the packet whose captions it has, if the stream is captioned_stream(); -1: it has none */
    struct picture_hash hash; /* 0 if abandoned */
};

/* What happened to the picture that a packet began. Codec threads write it. */
struct packet_record {
    atomic_int asks;      /* how often the callback was asked about it, or how often its gate was opened */
    int limit;            /* WAY_POLL: it is given up at the question with this index; < 0: never */
    atomic_bool given_up;
};

struct decode_pass {
    /* set by the caller */
    struct decode_mode mode;
    enum pass_policy policy;
    uint64_t seed;            /* PASS_RANDOM: seed of all choices; not 0 */
    int64_t longest_run_ns;   /* PASS_RANDOM by WAY_JUMP: the longest random deadline */
    const struct packet_record *open; /* PASS_RANDOM by WAY_POLL: the records of a PASS_OPEN */
    struct pass_seek seek;
    uint8_t fill;             /* what new picture buffers have in them; nothing visible may depend on it */
    bool is_strict;           /* any error rejects its packet */

    /* result; pictures in order of output */
    struct fingerprint *pictures;
    size_t picture_count;
    struct packet_record *records; /* one for each packet of the stream */
    size_t packet_count;           /* of the stream */
    int64_t run_count;         /* WAY_JUMP: runs that were not interrupted */
    int64_t run_total_ns;      /* the total time of these runs */
    int64_t rejected_count;    /* packets that the decoder rejected as invalid */
    atomic_long stray_count;   /* calls where there must be none: see decode_pass.c */
    int64_t log_count;         /* messages of the decoder, warnings and worse */
};

/* Returns whether the decoder of the stream knows this mode: the way, and threads of this type. */
bool mode_is_possible(const struct coded_stream *stream, struct decode_mode mode);

/* Writes a name like "poll, 3 frame threads". Returns buffer. */
const char *mode_name(struct decode_mode mode, char *buffer, size_t size);

/*
 * Decodes the stream. Returns 0, or a negative AVERROR. In both cases the caller frees the pass by pass_finish(). One
 * pass at a time: av_log has no user pointer.
 */
int pass_decode(struct decode_pass *pass, const struct coded_stream *stream);

void pass_finish(struct decode_pass *pass);

/* How many pictures that came out are droppable, or abandoned. */
size_t pass_count_droppable(const struct decode_pass *pass);
size_t pass_count_abandoned(const struct decode_pass *pass);

/*
 * Returns whether a picture has the captions of another packet than its own. libdav1d does this before version 1.2.0, also
 * when nothing is withheld: it gives the metadata of a unit to the next frame that it decodes, even if the unit shows an
 * existing frame, and a hidden frame keeps what it got until it is shown.
 */
bool pass_misplaces_captions(const struct decode_pass *pass);

/* How many pictures were given up before their first block (refused) or later (interrupted). */
struct given_up_count {
    int64_t refused;
    int64_t interrupted;
};
struct given_up_count pass_count_given_up(const struct decode_pass *pass);

#endif
