/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "av1_unit.h"

#include <string.h>

/* The section numbers are those of the AV1 bitstream specification, version 1.0.0 with errata 1. */

enum {
    OBU_SEQUENCE_HEADER = 1, OBU_FRAME_HEADER = 3, OBU_TILE_GROUP = 4, OBU_METADATA = 5, OBU_FRAME = 6,
    OBU_REDUNDANT_FRAME_HEADER = 7,
};
enum { KEY_FRAME, INTER_FRAME, INTRA_ONLY_FRAME, SWITCH_FRAME };

struct obu {
    int type;
    int temporal_layer;
    int spatial_layer;
    struct bytes payload;
};

/* 4.10.5. Returns false if the number is not whole. */
static bool take_leb128(struct bytes *bytes, uint64_t *number)
{
    *number = 0;
    for (int i = 0; i < 8 && bytes_left(bytes); i++) {
        const uint8_t byte = *bytes->at++;
        *number |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* 5.3. The last OBU of a packet may lack its size. Returns false at the end and at what is no OBU. */
static bool take_obu(struct bytes *unit, struct obu *obu)
{
    if (!bytes_left(unit))
        return false;
    struct bits header = {.bytes = *unit};
    const bool forbidden = bits_flag(&header);
    *obu = (struct obu){.type = (int)bits_read(&header, 4)};
    const bool has_extension = bits_flag(&header);
    const bool has_size = bits_flag(&header);
    bits_skip(&header, 1);
    if (has_extension) {
        obu->temporal_layer = (int)bits_read(&header, 3);
        obu->spatial_layer = (int)bits_read(&header, 2);
        bits_skip(&header, 3);
    }
    uint64_t size = bytes_left(&header.bytes);
    if (forbidden || header.ended || (has_size && !take_leb128(&header.bytes, &size)) || size > bytes_left(&header.bytes))
        return false;
    obu->payload = (struct bytes){header.bytes.at, header.bytes.at + size};
    unit->at = obu->payload.end;
    return true;
}

/* 4.10.3 */
static void skip_uvlc(struct bits *bits)
{
    int zeros = 0;
    while (!bits->ended && !bits_flag(bits))
        zeros++;
    if (zeros < 32)
        bits_skip(bits, zeros);
}

/* 5.5.3, 5.5.4. Returns the length of the delays in the decoder model of an operating point. */
static int read_timing(struct av1_sequence *sequence, struct bits *bits)
{
    bits_skip(bits, 32 + 32); /* num_units_in_display_tick, time_scale */
    const bool equal_intervals = bits_flag(bits);
    if (equal_intervals)
        skip_uvlc(bits);
    sequence->has_decoder_model = bits_flag(bits);
    if (!sequence->has_decoder_model)
        return 0;
    const int delay_bits = (int)bits_read(bits, 5) + 1;
    bits_skip(bits, 32); /* num_units_in_decoding_tick */
    sequence->removal_time_bits = (int)bits_read(bits, 5) + 1;
    sequence->presentation_time_bits = (int)bits_read(bits, 5) + 1;
    sequence->has_presentation_times = !equal_intervals;
    return delay_bits;
}

/* 5.5.1, the operating points */
static void read_operating_points(struct av1_sequence *sequence, struct bits *bits)
{
    const int delay_bits = bits_flag(bits) ? read_timing(sequence, bits) : 0; /* timing_info_present_flag */
    const bool has_display_delays = bits_flag(bits);
    sequence->operating_points = (int)bits_read(bits, 5) + 1;
    for (int i = 0; i < sequence->operating_points; i++) {
        sequence->point_layers[i] = bits_read(bits, 12);
        if (bits_read(bits, 5) > 7) /* seq_level_idx */
            bits_skip(bits, 1);     /* seq_tier */
        sequence->point_has_model[i] = sequence->has_decoder_model && bits_flag(bits);
        if (sequence->point_has_model[i])
            bits_skip(bits, 2 * delay_bits + 1); /* decoder_buffer_delay, encoder_buffer_delay, low_delay_mode_flag */
        if (has_display_delays && bits_flag(bits))
            bits_skip(bits, 4); /* initial_display_delay_minus_1 */
    }
}

/* 5.5.1, the tools. What follows order_hint_bits is not needed. */
static void read_tools(struct av1_sequence *sequence, struct bits *bits)
{
    bits_skip(bits, 1 + 1 + 1); /* use_128x128_superblock, enable_filter_intra, enable_intra_edge_filter */
    if (sequence->is_still) {
        sequence->chooses_screen_content = sequence->chooses_integer_vectors = true;
        return;
    }
    bits_skip(bits, 1 + 1 + 1 + 1); /* interintra and masked compound, warped motion, dual filter */
    const bool has_order_hints = bits_flag(bits);
    if (has_order_hints)
        bits_skip(bits, 1 + 1); /* enable_jnt_comp, enable_ref_frame_mvs */
    sequence->chooses_screen_content = bits_flag(bits);
    sequence->has_screen_content = sequence->chooses_screen_content || bits_flag(bits);
    if (sequence->has_screen_content) {
        sequence->chooses_integer_vectors = bits_flag(bits);
        if (!sequence->chooses_integer_vectors)
            bits_skip(bits, 1); /* seq_force_integer_mv */
    }
    if (has_order_hints)
        sequence->order_hint_bits = (int)bits_read(bits, 3) + 1;
}

static void read_sequence_header(struct av1_sequence *out, struct bytes payload)
{
    struct av1_sequence sequence = {0};
    struct bits bits = {.bytes = payload};
    bits_skip(&bits, 3 + 1); /* seq_profile, still_picture */
    sequence.is_still = bits_flag(&bits);
    if (sequence.is_still)
        bits_skip(&bits, 5); /* seq_level_idx */
    else
        read_operating_points(&sequence, &bits);
    const int width_bits = (int)bits_read(&bits, 4) + 1;
    const int height_bits = (int)bits_read(&bits, 4) + 1;
    bits_skip(&bits, width_bits + height_bits);
    if (!sequence.is_still && bits_flag(&bits)) { /* frame_id_numbers_present_flag */
        const int delta_bits = (int)bits_read(&bits, 4) + 2;
        sequence.frame_id_bits = (int)bits_read(&bits, 3) + delta_bits + 1;
    }
    read_tools(&sequence, &bits);
    sequence.known = !bits.ended;
    *out = sequence;
}

/* 5.9.2: the times at which the frame leaves the buffers of its operating points */
static void skip_removal_times(const struct av1_sequence *sequence, const struct obu *obu, struct bits *bits)
{
    if (!sequence->has_decoder_model || !bits_flag(bits)) /* buffer_removal_time_present_flag */
        return;
    for (int i = 0; i < sequence->operating_points; i++) {
        const uint32_t layers = sequence->point_layers[i];
        const bool is_in = !layers || (layers >> obu->temporal_layer & layers >> (obu->spatial_layer + 8) & 1);
        if (sequence->point_has_model[i] && is_in)
            bits_skip(bits, sequence->removal_time_bits);
    }
}

/* What a frame header says. */
struct frame_header {
    bool is_shown;
    bool is_referenced; /* or was decoded before */
};

/* 5.9.2, from disable_cdf_update to refresh_frame_flags, of a frame that is not a shown key frame */
static bool read_is_referenced(const struct av1_sequence *sequence, const struct obu *obu, struct bits *bits, int type,
                               bool is_resilient)
{
    const bool is_intra = type == KEY_FRAME || type == INTRA_ONLY_FRAME;
    bits_skip(bits, 1); /* disable_cdf_update */
    const bool screen_content = sequence->chooses_screen_content ? bits_flag(bits) : sequence->has_screen_content;
    if (screen_content && sequence->chooses_integer_vectors)
        bits_skip(bits, 1); /* force_integer_mv */
    bits_skip(bits, sequence->frame_id_bits);
    if (type == SWITCH_FRAME)
        return true; /* it refreshes all slots */
    bits_skip(bits, 1); /* frame_size_override_flag */
    bits_skip(bits, sequence->order_hint_bits);
    if (!is_intra && !is_resilient)
        bits_skip(bits, 3); /* primary_ref_frame */
    skip_removal_times(sequence, obu, bits);
    return bits_read(bits, 8) != 0;
}

static struct frame_header read_frame_header(const struct av1_sequence *sequence, const struct obu *obu)
{
    struct bits bits = {.bytes = obu->payload};
    if (sequence->is_still || bits_flag(&bits)) /* show_existing_frame */
        return (struct frame_header){.is_shown = true, .is_referenced = true};
    const int type = (int)bits_read(&bits, 2);
    const bool is_shown = bits_flag(&bits);
    if (is_shown && sequence->has_presentation_times)
        bits_skip(&bits, sequence->presentation_time_bits);
    if (!is_shown)
        bits_skip(&bits, 1); /* showable_frame */
    if (type == KEY_FRAME && is_shown)
        return (struct frame_header){.is_shown = true, .is_referenced = true};
    const bool is_resilient = type == SWITCH_FRAME || bits_flag(&bits);
    const bool is_referenced = read_is_referenced(sequence, obu, &bits, type, is_resilient);
    return (struct frame_header){.is_shown = is_shown, .is_referenced = is_referenced || bits.ended};
}

void av1_configure(struct av1_sequence *sequence, struct bytes configuration)
{
    /* AV1 codec ISO media file format binding, 2.3.3: a marker and version 1, three more bytes, then OBUs. */
    enum { MARKER_AND_VERSION = 0x81, RECORD_SIZE = 4 };
    *sequence = (struct av1_sequence){0};
    if (bytes_left(&configuration) >= RECORD_SIZE && *configuration.at == MARKER_AND_VERSION)
        configuration.at += RECORD_SIZE;
    av1_look_at_unit(sequence, configuration);
}

/* 6.4.1: the upper bits of an operating point are its spatial layers. */
static bool has_spatial_layers(const struct av1_sequence *sequence)
{
    enum { SECOND_SPATIAL_LAYER = 9 };
    for (int i = 0; i < sequence->operating_points; i++)
        if (sequence->point_layers[i] >> SECOND_SPATIAL_LAYER)
            return true;
    return false;
}

struct av1_shown av1_look_at_unit(struct av1_sequence *sequence, struct bytes unit)
{
    const uint8_t *const begin = unit.at;
    struct av1_shown shown = {0};
    struct frame_header header = {0}; /* of the frame to which tile groups belong */
    int shown_frames = 0;
    bool referenced = false;
    struct obu obu;
    const uint8_t *at = unit.at;
    for (; take_obu(&unit, &obu); at = unit.at) {
        if (obu.type == OBU_SEQUENCE_HEADER)
            read_sequence_header(sequence, obu.payload);
        const bool begins_frame = obu.type == OBU_FRAME_HEADER || obu.type == OBU_FRAME;
        if (begins_frame && sequence->known) {
            header = read_frame_header(sequence, &obu);
            shown_frames += header.is_shown;
            referenced |= header.is_shown && header.is_referenced;
            if (header.is_shown)
                shown = (struct av1_shown){.at = (size_t)(at - begin)};
        }
        const bool is_of_frame = begins_frame || obu.type == OBU_TILE_GROUP || obu.type == OBU_REDUNDANT_FRAME_HEADER;
        if (is_of_frame && header.is_shown)
            shown.size = (size_t)(unit.at - begin) - shown.at;
    }
    shown.droppable = shown_frames == 1 && !referenced && !bytes_left(&unit) && !has_spatial_layers(sequence);
    return shown;
}

/* 5.8.1, 6.7.2: metadata of ITU-T T.35 belongs to one picture; other kinds stay in force. */
static bool is_of_one_picture(const struct obu *obu)
{
    enum { METADATA_TYPE_ITUT_T35 = 4 };
    struct bytes payload = obu->payload;
    uint64_t type;
    return obu->type == OBU_METADATA && take_leb128(&payload, &type) && type == METADATA_TYPE_ITUT_T35;
}

size_t av1_copy_rest(uint8_t *out, struct bytes unit, const struct av1_shown *shown)
{
    const uint8_t *const shown_at = unit.at + shown->at;
    const uint8_t *const shown_end = shown_at + shown->size;
    size_t size = 0;
    struct obu obu;
    for (const uint8_t *at = unit.at; take_obu(&unit, &obu); at = unit.at) {
        const bool is_shown = at >= shown_at && at < shown_end;
        if (is_shown || (at < shown_end && is_of_one_picture(&obu)))
            continue;
        memcpy(out + size, at, (size_t)(unit.at - at));
        size += (size_t)(unit.at - at);
    }
    return size;
}
