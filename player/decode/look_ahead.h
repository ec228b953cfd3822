/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Gathers what rule plan needs to know: the packets ahead, the pictures in the decoder, and those that wait to be
 * presented. All times are PTS, in ns of the stream. Decode thread.
 */
#ifndef PLAYER_LOOK_AHEAD_H
#define PLAYER_LOOK_AHEAD_H

#include "outlook.h"
#include "packet_queue.h"
#include "picture_queue.h"

#include <stdbool.h>
#include <stdint.h>

/* Packets ahead that are looked at: a key picture beyond them is not found. */
enum { LOOK_AHEAD_PACKETS = 300 };

struct look_ahead {
    struct packet_queue *packets;   /* NULL: the packets ahead are not known */
    struct picture_queue *pictures; /* NULL: none wait, each is presented before the next packet is decoded */
    struct decoder_model decoder;   /* `beside` is set by the owner, before the first packet */
    struct times kept_in_decoder;   /* without those that were given up */
    struct loss_history past;       /* since the beginning or the last seek */
    int64_t late_seen;              /* late pictures that the presenter has reported, see stage_clock.h */
    /* Of the last outlook. */
    struct outlook outlook;
    struct waiting_pictures waiting;
    struct packet_glance glances[LOOK_AHEAD_PACKETS];
    struct upcoming ahead[LOOK_AHEAD_PACKETS];
};

/* Call at the beginning and at each seek, and where decoding goes on at a key picture: the decoder is empty. */
void look_ahead_restart(struct look_ahead *look);

/*
 * Returns the outlook before the packet is decoded, valid until the next call; NULL if the packets ahead are not known.
 * now_ns is the PTS that is due now. delay: how many pictures the decoder holds back.
 */
const struct outlook *look_ahead_from(struct look_ahead *look, const AVPacket *packet, enum picture_class picture_class,
                                      int64_t now_ns, struct frame_duration frame_duration, int delay);

/* The packet went into the decoder. is_kept: its picture was not given up. */
void look_ahead_note_packet(struct look_ahead *look, int64_t pts_ns, bool is_kept);

/*
 * For a window: what became of a packet's picture, as far as it is known. number: of its job. A picture without a time stamp is
 * not noted.
 */
void look_ahead_note_fate(struct look_ahead *look, int64_t number, int64_t pts_ns, bool is_lost);

/* The picture of this job was abandoned after all. */
void look_ahead_note_loss(struct look_ahead *look, int64_t number);

/* Notes the pictures that came too late to be shown since the last call. */
void look_ahead_note_late(struct look_ahead *look, const struct late_pictures *late);

/* A picture came out of the decoder, so those before it are not in there any more. */
void look_ahead_note_picture(struct look_ahead *look, int64_t pts_ns);

/* Returns the class of a picture from its packet. before_ns: PTS of the packet before it. */
enum picture_class look_ahead_class(const struct packet_glance *packet, int64_t before_ns);

#endif
