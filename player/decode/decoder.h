/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The decode block: one packet in, the pictures that come out of it, under a deadline (seed 000, 8.2).
 *
 * There are two ways out of a decode, see patches/README.md:
 * - The jump. The deadline block encloses avcodec_send_packet and avcodec_receive_frame, with its notification disabled.
 *   Only the gate, which the patched libavcodec calls round the slices of a droppable picture, opens an interruptible
 *   island. For one thread, and for codecs that have it.
 * - The poll. libavcodec asks again and again whether to stop, in the thread that decodes the picture. For everything else.
 *
 * With codec threads a packet's picture is decoded while later packets come in. The order of each packet reaches its
 * picture through the ledger (job_ledger.h), and the result of a job is complete when its picture comes out.
 *
 * Call all functions on one thread. decoder_open may be called on another thread before.
 */
#ifndef PLAYER_DECODER_H
#define PLAYER_DECODER_H

#include "codec_threads.h"
#include "decode_job.h"
#include "decode_stop.h"

#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stddef.h>

struct decoder;

struct decoder_settings {
    int threads;   /* 1 to CODEC_THREADS_MAX: how many may decode at once. Some codecs always have one */
    bool may_jump; /* with one thread, decodes are left by a jump where the codec can; otherwise they are polled */
    int x264_build; /* see clip_assume_x264; 0: unknown */
};

/*
 * Opens a decoder for the stream. Its codec threads have the role decode. No other thread may start threads meanwhile, see
 * helper_threads.h. Returns 0 or a negative AVERROR with the reason in why (see clip_open_decoder). decoder_close accepts
 * an empty pointer and clears it.
 */
int decoder_open(struct decoder **out, const AVStream *stream, const struct decoder_settings *settings, char *why,
                 size_t why_size);
void decoder_close(struct decoder **decoder);

/*
 * While a stop is requested, droppable pictures are abandoned, whatever their deadline. NULL, as at the beginning: nobody
 * stops a decode. It must exist as long as it is set. Call it only while no picture is in the decoder's threads: before
 * the first packet, or behind decoder_flush.
 */
void decoder_stop_by(struct decoder *decoder, struct decode_stop *stop);

struct decode_pause {
    void (*at_row)(void *opaque); /* NULL: nothing */
    void *opaque;
};

/*
 * H.264, MPEG-1, MPEG-2 and MPEG-4 with one thread: at_row is called after each row of macroblocks of every picture, in a
 * protected section, on the thread of decoder_run. It may block; the decode goes on when it returns. Other decodes are not
 * paused, nor those of H.264 that may be left by a jump.
 */
void decoder_pause_by(struct decoder *decoder, struct decode_pause pause);

/* Returns whether this codec's droppable pictures can be abandoned in the middle. If not, decodes run to the end. */
bool decoder_has_gate(const struct decoder *decoder);

/* Returns whether this codec's droppable pictures are given up only before their decode begins. */
bool decoder_withholds(const struct decoder *decoder);

/*
 * Returns whether the decoder can leave out the loop filter of one picture and not of others (the order `degrade`, which is
 * ignored otherwise). Only the picture of that packet changes, and those that refer to it.
 */
bool decoder_can_degrade(const struct decoder *decoder);

/* Returns the decoder's threads. Valid until decoder_close. */
const struct codec_threads *decoder_threads(const struct decoder *decoder);

/*
 * Returns how many pictures the decoder holds back, as far as it knows: until it has them in order, and because several are
 * decoded at once.
 */
int decoder_delay(const struct decoder *decoder);

/* Writes a description for people into buffer, for example "h264 (High)", and returns buffer. */
const char *decoder_description(const struct decoder *decoder, char *buffer, size_t size);

/*
 * Decodes one packet under its order and fills in *outcome. Afterwards decoder_take gives out the pictures, in
 * presentation order. Pictures that are not taken before the next job are lost. Returns outcome->error.
 */
int decoder_run(struct decoder *decoder, const struct decode_job *job, struct decode_outcome *outcome);

/* A picture that came out. */
struct taken_picture {
    int64_t number; /* of its job, or JOB_UNKNOWN */
    struct picture_decode decode;
};

/* Moves the next picture that came out into frame, which must be blank. Returns false if there is none left. */
bool decoder_take(struct decoder *decoder, AVFrame *frame, struct taken_picture *picture);

/* Drops everything in flight, for a seek. */
void decoder_flush(struct decoder *decoder);

#endif
