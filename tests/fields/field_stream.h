/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An H.264 stream of field pictures, which the available encoders cannot write: an IDR field pair, then
 * pairs of P fields, alternately droppable and reference.
 */
#ifndef FIELD_STREAM_H
#define FIELD_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "coded_stream.h"

enum field_pairs {
    PAIRS_ALIKE,          /* both fields of a pair are droppable, or both are references */
    PAIRS_DROPPABLE_FIRST, /* in each droppable pair the second field is a reference */
    PAIRS_REFERENCE_FIRST, /* in each droppable pair the first field is a reference */
};

struct field_stream_options {
    int pair_count;
    int slices_per_field;
    bool pair_in_one_packet; /* otherwise each field has its own packet */
    bool cabac; /* otherwise CAVLC */
    enum field_pairs pairs;
    uint64_t seed;
};

/* Writes the stream. Returns 0, or a negative AVERROR with nothing to free. */
int field_stream_write(struct coded_stream *stream, const struct field_stream_options *options);

#endif
