/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A packet of AV1 without the frame that it shows. */
#ifndef PLAYER_AV1_REST_H
#define PLAYER_AV1_REST_H

#include "av1_unit.h"

#include <libavcodec/packet.h>

/*
 * Writes what is left of the packet without its shown frame to *rest, or NULL if nothing is left. Returns 0, or
 * AVERROR(ENOMEM) with NULL. The caller frees *rest by av_packet_free.
 */
int av1_rest_of(const AVPacket *packet, const struct av1_shown *shown, AVPacket **rest);

#endif
