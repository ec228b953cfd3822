/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The decode block: one packet in, the pictures that come out of it, under a deadline (seed 000, 8.2).
 *
 * All of it is called on one thread. The deadline block stands round avcodec_send_packet and
 * avcodec_receive_frame with its notification disabled; only the gate, which the patched libavcodec calls round the
 * slices of a droppable picture, opens an interruptible island. See patches/README.md.
 */
#ifndef PLAYER_DECODER_H
#define PLAYER_DECODER_H

#include "decode_job.h"

#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stddef.h>

struct decoder;

/*
 * Returns 0 or a negative AVERROR with the reason in why (see clip_open_decoder). decoder_close accepts an empty pointer
 * and clears it.
 */
int decoder_open(struct decoder **out, const AVStream *stream, char *why, size_t why_size);
void decoder_close(struct decoder **decoder);

/* Whether this codec's droppable pictures can be abandoned in the middle. Where not, decodes run to the end. */
bool decoder_has_gate(const struct decoder *decoder);

/* "h264 (High)", for people. */
const char *decoder_description(const struct decoder *decoder, char *buffer, size_t size);

/*
 * Decodes one packet under its order and fills in *outcome. Afterwards the pictures that came out wait in decoder_take, in
 * presentation order; those that are not taken before the next job are lost. Returns outcome->error.
 */
int decoder_run(struct decoder *decoder, const struct decode_job *job, struct decode_outcome *outcome);

/* Moves the next picture that came out into *picture, whose frame must be blank. Returns false: no more. */
bool decoder_take(struct decoder *decoder, struct decoded_picture *picture);

/* Forgets everything in flight, for a seek. */
void decoder_flush(struct decoder *decoder);

#endif
