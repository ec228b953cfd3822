/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "nal_units.h"

#include "start_code.h"

/* ISO/IEC 14496-15: a configuration record begins with this version. FFmpeg knows it by its first bytes, too. */
enum {
    AVC_VERSION = 1, AVC_LENGTH_AT = 4, AVC_RECORD_MIN = 7,
    HEVC_LENGTH_AT = 21, HEVC_ARRAYS_AT = 22, HEVC_RECORD_MIN = 23, LENGTH_MASK = 3,
};

/* What the units of a packet that were looked at so far say. */
struct slices {
    bool any;
    bool referenced;
};

/* H.264, 7.4.1. */
static void look_at_h264(struct slices *slices, struct bytes unit)
{
    enum { SLICE = 1, SLICE_PARTITION_A = 2, SLICE_IDR = 5, TYPE_MASK = 31, REF_IDC_MASK = 96 };
    const int type = *unit.at & TYPE_MASK;
    if (type != SLICE && type != SLICE_PARTITION_A && type != SLICE_IDR)
        return;
    slices->any = true;
    slices->referenced |= (*unit.at & REF_IDC_MASK) != 0;
}

/*
 * HEVC, 7.4.2.2: even slice types up to 14 are not referred to within their sub-layer; only those of the highest
 * sub-layer are not referred to at all. Units of other layers belong to other views, which are not decoded.
 */
static void look_at_hevc(struct nal_state *state, struct slices *slices, struct bytes unit)
{
    enum { NON_REFERENCE_END = 15, SLICE_END = 32, SEQUENCE_PARAMETERS = 33, HEADER_SIZE = 2 };
    struct bits bits = {.bytes = unit};
    bits_skip(&bits, 1);
    const uint32_t type = bits_read(&bits, 6);
    const uint32_t layer = bits_read(&bits, 6);
    const int sub_layer = (int)bits_read(&bits, 3) - 1;
    if (bits.ended || layer != 0)
        return;
    if (type == SEQUENCE_PARAMETERS && bytes_left(&unit) > HEADER_SIZE) {
        bits_skip(&bits, 4); /* sps_video_parameter_set_id */
        state->highest_layer = (int)bits_read(&bits, 3);
    } else if (type < SLICE_END) {
        slices->any = true;
        slices->referenced |= type >= NON_REFERENCE_END || type % 2 || sub_layer != state->highest_layer;
    }
}

static void look_at_unit(struct nal_state *state, struct slices *slices, struct bytes unit)
{
    if (state->codec == AV_CODEC_ID_H264)
        look_at_h264(slices, unit);
    else
        look_at_hevc(state, slices, unit);
}

/* Takes a big-endian number. The caller has made sure that it is there. */
static uint32_t take_number(struct bytes *bytes, int size)
{
    uint32_t number = 0;
    while (size-- > 0)
        number = number << 8 | *bytes->at++;
    return number;
}

/* Takes the next unit with its length, or what is left of it. Returns false if there is no byte of it. */
static bool take_unit(struct bytes *bytes, int length_size, struct bytes *unit)
{
    if (bytes_left(bytes) <= (size_t)length_size)
        return false;
    const uint32_t length = take_number(bytes, length_size);
    *unit = *bytes;
    if (length <= bytes_left(bytes))
        unit->end = bytes->at + length;
    bytes->at = unit->end;
    return true;
}

static struct slices look_at_units(struct nal_state *state, struct bytes bytes)
{
    struct slices slices = {0};
    struct bytes unit;
    if (state->length_size) {
        while (take_unit(&bytes, state->length_size, &unit))
            if (bytes_left(&unit))
                look_at_unit(state, &slices, unit);
    } else {
        while (find_start_code(&bytes))
            look_at_unit(state, &slices, bytes);
    }
    return slices;
}

/* ISO/IEC 14496-15, 8.3.3.1: arrays of units, each array with its type, each unit with a length of two bytes. */
static void look_at_hevc_record(struct nal_state *state, struct bytes record)
{
    enum { COUNT_SIZE = 2, LENGTH_SIZE = 2 };
    struct slices ignored = {0};
    state->length_size = (record.at[HEVC_LENGTH_AT] & LENGTH_MASK) + 1;
    int arrays = record.at[HEVC_ARRAYS_AT];
    record.at += HEVC_RECORD_MIN;
    while (arrays-- > 0 && bytes_left(&record) > COUNT_SIZE) {
        record.at++; /* the type */
        uint32_t count = take_number(&record, COUNT_SIZE);
        struct bytes unit;
        while (count-- > 0 && take_unit(&record, LENGTH_SIZE, &unit))
            if (bytes_left(&unit))
                look_at_unit(state, &ignored, unit);
    }
}

void nal_configure(struct nal_state *state, struct bytes configuration)
{
    const size_t size = bytes_left(&configuration);
    const uint8_t *const at = configuration.at;
    state->length_size = 0;
    if (state->codec == AV_CODEC_ID_H264 && size >= AVC_RECORD_MIN && at[0] == AVC_VERSION)
        state->length_size = (at[AVC_LENGTH_AT] & LENGTH_MASK) + 1;
    else if (state->codec == AV_CODEC_ID_HEVC && size >= HEVC_RECORD_MIN && (at[0] || at[1] || at[2] > 1))
        look_at_hevc_record(state, configuration);
    else
        look_at_units(state, configuration);
}

bool nal_packet_is_droppable(struct nal_state *state, struct bytes packet)
{
    const struct slices slices = look_at_units(state, packet);
    return slices.any && !slices.referenced;
}
