/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The decode block: one packet in, the pictures that come out of it, under a deadline (seed 000, 8.2).
 *
 * Call all functions on one thread. The deadline block encloses avcodec_send_packet and avcodec_receive_frame, with its
 * notification disabled. Only the gate, which the patched libavcodec calls round the slices of a droppable picture,
 * opens an interruptible island. See patches/README.md.
 */
#ifndef PLAYER_DECODER_H
#define PLAYER_DECODER_H

#include "decode_job.h"

#include <dlex/trigger.h>
#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stddef.h>

struct decoder;

/*
 * Opens a decoder for the stream. Returns 0 or a negative AVERROR with the reason in why (see clip_open_decoder).
 * decoder_close accepts an empty pointer and clears it.
 */
int decoder_open(struct decoder **out, const AVStream *stream, char *why, size_t why_size);
void decoder_close(struct decoder **decoder);

/*
 * While the trigger is fired, droppable pictures are abandoned, whatever their deadline. NULL, as at the beginning: nobody
 * stops a decode. The trigger must exist as long as it is set.
 */
void decoder_stop_by(struct decoder *decoder, struct dlex_trigger *stop);

/* Returns whether this codec's droppable pictures can be abandoned in the middle. If not, decodes run to the end. */
bool decoder_has_gate(const struct decoder *decoder);

/* Returns how many pictures the decoder holds back until it has them in order, as far as it knows. */
int decoder_delay(const struct decoder *decoder);

/* Writes a description for people into buffer, for example "h264 (High)", and returns buffer. */
const char *decoder_description(const struct decoder *decoder, char *buffer, size_t size);

/*
 * Decodes one packet under its order and fills in *outcome. Afterwards decoder_take gives out the pictures, in
 * presentation order. Pictures that are not taken before the next job are lost. Returns outcome->error.
 */
int decoder_run(struct decoder *decoder, const struct decode_job *job, struct decode_outcome *outcome);

/*
 * Moves the next picture that came out into frame, which must be blank, and sets *number to that of its job, or to
 * JOB_UNKNOWN. Returns false if there is none left.
 */
bool decoder_take(struct decoder *decoder, AVFrame *frame, int64_t *number);

/* Drops everything in flight, for a seek. */
void decoder_flush(struct decoder *decoder);

#endif
