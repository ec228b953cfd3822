/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether other pictures refer to the picture in a packet of H.264 or HEVC, and whether it is whole when decoding begins with it,
 * from the headers of its NAL units; and which build of x264 encoded it.
 *
 * Pure: no clock, no files, no memory kept.
 */
#ifndef PLAYER_NAL_UNITS_H
#define PLAYER_NAL_UNITS_H

#include "bits.h"

#include <libavcodec/codec_id.h>

/* What the headers before a packet said. */
struct nal_state {
    enum AVCodecID codec; /* AV_CODEC_ID_H264 or AV_CODEC_ID_HEVC */
    bool has_lengths;     /* each unit has its length before it; otherwise a start code */
    int length_size;      /* bytes of that length, if a configuration ever said so */
    int x264_build;       /* H.264: the last build of x264 that a message named; 0: none did */
    int highest_layer;    /* HEVC: the highest temporal sub-layer of the last sequence parameter set, be it active or not */
};

/* Reads the configuration of a stream, or a new one: the container's record, units after start codes, or nothing. */
void nal_configure(struct nal_state *state, struct bytes configuration);

/* What a packet's headers say. */
struct nal_facts {
    bool droppable; /* it has slices, and no other picture refers to them */
    int gradual;    /* H.264: if decoding begins here, pictures are whole after so many more reference pictures (intra refresh) */
};

struct nal_facts nal_look_at_packet(struct nal_state *state, struct bytes packet);

#endif
