/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The decode block: one packet in, the pictures that come out of it, under a deadline (seed 000, 8.2).
 *
 * All of it runs on one thread, the main one. The deadline block stands round avcodec_send_packet and
 * avcodec_receive_frame with its notification disabled; only the gate, which the patched libavcodec calls round the
 * slices of a droppable picture, opens an interruptible island. See patches/README.md.
 */
#ifndef PLAYER_DECODER_H
#define PLAYER_DECODER_H

#include "clip.h"
#include "frame_log.h"
#include "policy.h"

#include <libavcodec/avcodec.h>

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
 * Decodes one packet (NULL: drain) under the order. row, if not NULL, gets its decode_*, deadline_ns, fired_ns, droppable
 * and, for a picture given up, its verdict; it must stay where it is until its picture has come out. Returns 0,
 * AVERROR_EOF when everything is drained, or the decoder's error: playing may go on with the next packet.
 *
 * Afterwards the pictures wait in decoder_take, in presentation order; take them all before the next call.
 */
int decoder_feed(struct decoder *decoder, const AVPacket *packet, const struct policy_order *order,
                 struct frame_row *row);

/* The next picture that came out; its row in *row (NULL: unknown). Valid until the next decoder_feed. NULL: no more. */
const AVFrame *decoder_take(struct decoder *decoder, struct frame_row **row);

/* Forgets everything in flight, for a seek. */
void decoder_flush(struct decoder *decoder);

#endif
