/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes tiles of slices. No encoder of Debian writes HEVC with tiles. But where each row of coding tree units is a slice of its
 * own, each slice may be called a tile, too: no prediction crosses borders of slices, so only the picture parameter set differs.
 */
#ifndef HEVC_TILES_H
#define HEVC_TILES_H

#include <libavcodec/packet.h>

/* Returns the number of slices in a packet with start codes. */
int count_slices(const AVPacket *packet);

/*
 * Replaces the picture parameter set of a packet with start codes, if it has one. The new set has this many rows of tiles, all of
 * the same height, and one column. The old one must have wavefront rows: with these, too, each slice says how many parts it
 * has. Returns 0, AVERROR_INVALIDDATA if the set is cut off or longer than 48 bytes, or another negative AVERROR.
 */
int add_tiles(AVPacket *packet, int rows);

#endif
