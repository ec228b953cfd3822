/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The droppable picture of an AV1 packet, and the packet without it. */
#ifndef PLAYER_AV1_PACKET_H
#define PLAYER_AV1_PACKET_H

#include "av1_unit.h"

#include <libavcodec/packet.h>

/* Reads the next packet of a stream: a new configuration, if it brings one, and its temporal unit. */
struct av1_shown av1_look_at_packet(struct av1_sequence *sequence, const AVPacket *packet);

/*
 * Writes what is left of the packet without its shown frame to *rest, or NULL if nothing is left; see av1_copy_rest. Returns
 * 0, or AVERROR(ENOMEM) with NULL. The caller frees *rest by av_packet_free.
 */
int av1_rest_of(const AVPacket *packet, const struct av1_shown *shown, AVPacket **rest);

#endif
