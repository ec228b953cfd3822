/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stream with errors. */
#ifndef DAMAGED_STREAM_H
#define DAMAGED_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "coded_stream.h"

/*
 * Writes a copy of the stream to *damaged in which each fourth packet has three wrong bytes, after its first headers.
 * Returns 0 or a negative AVERROR. In both cases the caller frees *damaged by stream_finish().
 */
int damaged_stream(struct coded_stream *damaged, const struct coded_stream *stream, uint64_t random);

/* Returns whether the packet with this index may have wrong bytes. */
bool damaged_stream_changes(size_t packet);

#endif
