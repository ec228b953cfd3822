/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The threads of a decoder: FFmpeg's own, or those of a library behind it.
 *
 * FFmpeg chooses between two kinds, and is left to it: frame threads if the decoder has them, else slice threads. Frame
 * threads decode several pictures at once, and help with every stream; each holds back one picture, which costs nothing
 * that is seen, because pictures are decoded ahead anyway. Slice threads share one picture; they help only if the encoder
 * divided it, which most do not.
 *
 * The threads are started when the decoder is opened, and have the role decode from then on (helper_threads.h).
 */
#ifndef PLAYER_CODEC_THREADS_H
#define PLAYER_CODEC_THREADS_H

#include "helper_threads.h"

#include <libavcodec/avcodec.h>
#include <stdbool.h>
#include <stdint.h>

enum codec_thread_kind {
    CODEC_THREADS_NONE,  /* the thread that gives packets to the decoder decodes them */
    CODEC_THREADS_FRAME, /* each decodes a picture */
    CODEC_THREADS_SLICE, /* they share a picture; the thread that gives packets is one of them */
    CODEC_THREADS_OWN,   /* those of a library, or of a decoder that has its own kind */
};

/* Plain data. Zero: there are none. */
struct codec_threads {
    enum codec_thread_kind kind;
    int count;  /* that decode at once, >= 1 */
    int beside; /* pictures that are held back because several are decoded at once */
    struct helper_threads helpers;
};

/* Before avcodec_open2: asks for this many threads. A decoder may have fewer. */
void codec_threads_ask(AVCodecContext *avctx, int count);

/* After avcodec_open2 with the same count: fills in all but the helpers. */
void codec_threads_describe(struct codec_threads *threads, const AVCodecContext *avctx, int count);

/* Returns whether several pictures are decoded at once: then a picture is ready only some packets after its own. */
bool codec_threads_overlap(const struct codec_threads *threads);

/* Returns the CPU time in ns that the decoder's threads and the calling one have used since they started. */
int64_t codec_threads_cpu_ns(const struct codec_threads *threads);

/* Returns "none", "frame", "slice" or "own". */
const char *codec_thread_kind_name(enum codec_thread_kind kind);

/* Returns the kind that a decoder has if it is given several threads. */
enum codec_thread_kind codec_thread_kind_of(const AVCodec *codec);

#endif
