/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether other pictures refer to the picture that a temporal unit of AV1 shows, and which bytes to withhold from the
 * decoder to leave that picture out.
 *
 * libdav1d cannot be interrupted. But a shown frame that refreshes no slot leaves nothing behind: without it, all others
 * are decoded as before. A temporal unit may have hidden frames before it, which must be decoded. Then only the shown
 * frame's OBUs are withheld.
 *
 * Pure: no clock, no files, no memory kept.
 */
#ifndef PLAYER_AV1_UNIT_H
#define PLAYER_AV1_UNIT_H

#include "bits.h"

enum { AV1_OPERATING_POINTS = 32 };

/* What the last sequence header said, as far as it is needed to read frame headers (AV1 specification, 5.5). */
struct av1_sequence {
    bool known;
    bool is_still;               /* reduced_still_picture_header */
    bool has_decoder_model;
    bool has_presentation_times; /* in shown frames, with the following length */
    int presentation_time_bits;
    int removal_time_bits;
    int operating_points;
    bool point_has_model[AV1_OPERATING_POINTS];
    uint32_t point_layers[AV1_OPERATING_POINTS]; /* operating_point_idc */
    int frame_id_bits;           /* 0: frames have no id */
    int order_hint_bits;
    bool chooses_screen_content; /* each frame says whether it has screen content tools; otherwise all or none do */
    bool has_screen_content;
    bool chooses_integer_vectors;
};

/* The OBUs of the shown frame, when the unit is droppable. They stand together: `size` bytes from `at`, a place in the unit. */
struct av1_shown {
    bool droppable;
    size_t at;
    size_t size;
};

/* Reads the configuration of a stream, or a new one: the container's record, or OBUs, or nothing. */
void av1_configure(struct av1_sequence *sequence, struct bytes configuration);

/*
 * Reads a temporal unit. It is droppable if it shows one new frame, and that refreshes no slot; not if it shows several
 * frames or one that was decoded before, or if the sequence header is missing. Nothing is droppable in a stream with spatial
 * layers: there libdav1d may hold back a unit's picture until it has seen the next unit.
 */
struct av1_shown av1_look_at_unit(struct av1_sequence *sequence, struct bytes unit);

/*
 * Copies a droppable unit to `out`, which has room for the whole unit, but leaves out the shown frame and the metadata that
 * only this frame has (captions, HDR10+, Dolby Vision). libdav1d would give such metadata to the next picture. Returns the
 * size of the copy; it may be 0.
 *
 * From libdav1d 1.2.0 on, the other pictures have the same metadata as without this. Older versions misplace metadata, also
 * when nothing is withheld; which pictures then have that of another unit depends on what is withheld (patches/README.md).
 */
size_t av1_copy_rest(uint8_t *out, struct bytes unit, const struct av1_shown *shown);

#endif
