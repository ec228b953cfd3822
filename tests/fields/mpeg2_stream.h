/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An MPEG-2 stream of field pictures, which the available encoders cannot write: pairs of I, P and B fields, two pairs of
 * B fields between two others. The pictures have no meaning: random gray levels in blocks, and random vectors.
 */
#ifndef MPEG2_STREAM_H
#define MPEG2_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "coded_stream.h"

/* Writes the stream. Returns 0, or a negative AVERROR with nothing to free. */
int mpeg2_stream_write(struct coded_stream *stream, int pair_count, bool pair_in_one_packet, uint64_t seed);

/* Returns whether the pair of this packet is one of B fields. */
bool mpeg2_stream_is_b(int pair);

#endif
