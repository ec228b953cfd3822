/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether the picture that the packet of MPEG-1, MPEG-2 or MPEG-4 part 2 releases is a B picture, to which no other picture
 * refers. The answer comes from the picture headers.
 *
 * In a packed bitstream of MPEG-4, a packet has a P-VOP and the B-VOP that belongs to the next packet, and the next packet
 * has no picture of its own, but stands for that B-VOP.
 *
 * Pure: no clock, no files, no memory kept.
 */
#ifndef PLAYER_MPEG_PICTURES_H
#define PLAYER_MPEG_PICTURES_H

#include "bits.h"

#include <libavcodec/codec_id.h>

/* What the packets before said. */
struct mpeg_state {
    enum AVCodecID codec; /* AV_CODEC_ID_MPEG1VIDEO, AV_CODEC_ID_MPEG2VIDEO or AV_CODEC_ID_MPEG4 */
    bool packed;          /* MPEG-4: the encoder said that it packs */
    bool put_aside;       /* a packed VOP waits for the next packet */
    bool aside_is_b;
};

/* Reads the configuration of a stream, or a new one. */
void mpeg_configure(struct mpeg_state *state, struct bytes configuration);

/* Reads a packet. Returns true if the picture that the decoder makes of it is a B picture. */
bool mpeg_packet_is_droppable(struct mpeg_state *state, struct bytes packet);

/* Forgets the packed VOP, for a seek. */
void mpeg_flush(struct mpeg_state *state);

#endif
