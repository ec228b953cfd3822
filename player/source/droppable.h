/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether other pictures refer to the picture of a packet, from the headers in the packet, without decoding it.
 *
 * The answers are those of the decoders in patches/, which mark droppable pictures themselves. Codecs whose decoder
 * gives up no picture have no droppable packets. AV1 is the exception: libdav1d marks nothing and gives up nothing, but the
 * packet says which bytes can be withheld from it (av1_unit.h).
 */
#ifndef PLAYER_DROPPABLE_H
#define PLAYER_DROPPABLE_H

#include "av1_unit.h"
#include "mpeg_pictures.h"
#include "nal_units.h"

#include <libavcodec/codec_par.h>
#include <libavcodec/packet.h>
#include <stdbool.h>

/* What the headers of a stream said so far. The members belong to the functions below. Nothing needs to be freed. */
struct droppable {
    enum AVCodecID codec;
    int gradual; /* of the packet read last, see struct nal_facts; 0: a picture is whole at once, or the codec is another */
    union {
        struct nal_state nal;
        struct mpeg_state mpeg;
        struct av1_sequence av1;
    };
};

void droppable_init(struct droppable *droppable, const AVCodecParameters *stream);

/*
 * Reads the next packet of the stream, in the order of decoding. Returns true if no other picture refers to the picture
 * that the decoder makes of it; false if one does, or if it is not known.
 */
bool droppable_packet(struct droppable *droppable, const AVPacket *packet); /* sets droppable->gradual */

/* For a seek: the next packet is not the one that follows. */
void droppable_flush(struct droppable *droppable);

#endif
