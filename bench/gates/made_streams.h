/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams that are made of others. Each function returns 0 or a negative AVERROR. In both cases the caller frees *made by
 * stream_finish().
 */
#ifndef MADE_STREAMS_H
#define MADE_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include <libavutil/frame.h>

#include "coded_stream.h"

/* A copy in which each fourth packet has three wrong bytes, after its first headers. */
int damaged_stream(struct coded_stream *made, const struct coded_stream *stream, uint64_t random);

/* Returns whether the packet with this index may have wrong bytes. */
bool damaged_stream_changes(size_t packet);

/* Makes one bit of the packet wrong; every second time one of the first bytes, where the headers are. */
int mutate_packet(AVPacket *packet, uint64_t random);

/* A copy in which about half of the packets are mutated. Adds to *mutations how many. */
int mutated_stream(struct coded_stream *made, const struct coded_stream *stream, uint64_t random, int *mutations);

/* Both, one behind the other. They have the same codec, but may have different sizes. */
int joined_stream(struct coded_stream *made, const struct coded_stream *first, const struct coded_stream *second);

/*
 * HEVC with two temporal sub-layers: a copy in which the B pictures of the lower one call themselves non-references of their
 * sub-layer, as they are when only the higher one refers to them.
 */
int relabelled_stream(struct coded_stream *made, const struct coded_stream *stream);

/* H.264 or HEVC: a copy in which each picture has film grain, described in an SEI message before its first slice. */
int grainy_stream(struct coded_stream *made, const struct coded_stream *stream);

/*
 * HEVC with start codes and wavefront rows, in which each row of coding tree units is a slice of its own: a copy in which each
 * slice is a tile, too. All pictures are the same (see hevc_tiles.h).
 */
int tiled_stream(struct coded_stream *made, const struct coded_stream *stream);

/* AV1: a copy in which each packet begins with captions, different ones in each. */
int captioned_stream(struct coded_stream *made, const struct coded_stream *stream);

/* Returns the packet of captioned_stream() whose captions the picture has, or -1 if it has none. */
int captions_number(const AVFrame *picture);

/* VP9: a copy in which a packet behind each fourth one shows the first reference again (show_existing_frame). */
int repeating_stream(struct coded_stream *made, const struct coded_stream *stream);

/* MPEG-4 with 25 units of time a second: a copy that ends with its last B-VOP and a VOP that is not coded. */
int not_coded_end_stream(struct coded_stream *made, const struct coded_stream *stream);

#endif
