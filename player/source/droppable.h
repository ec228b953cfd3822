/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether other pictures refer to the picture of a packet, from the headers in the packet, without decoding it.
 *
 * Only for codecs that have a gate: a picture of another codec cannot be abandoned.
 */
#ifndef PLAYER_DROPPABLE_H
#define PLAYER_DROPPABLE_H

#include <libavcodec/codec_par.h>
#include <libavcodec/packet.h>
#include <stdbool.h>

/* Returns true if no other picture refers to it; false if one does, if it is not known, or if the codec has no gate. */
bool packet_is_droppable(const AVCodecParameters *stream, const AVPacket *packet);

#endif
