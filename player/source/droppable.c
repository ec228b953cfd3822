/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "droppable.h"

#include <libavutil/intreadwrite.h>
#include <stdint.h>

/* H.264, 7.4.1: the types of units that contain slices. */
enum { SLICE = 1, SLICE_PARTITION_A = 2, SLICE_IDR = 5, UNIT_TYPE_MASK = 31, REF_IDC_MASK = 96 };
/* ISO/IEC 14496-15: the configuration record begins with this byte, and its fifth byte has the length of lengths. */
enum { CONFIGURATION_VERSION = 1, LENGTH_BYTE = 4, LENGTH_MASK = 3 };
enum { START_CODE_SIZE = 3 };

struct bytes {
    const uint8_t *at;
    const uint8_t *end;
};

/* Moves behind the next start code. Returns false if there is none before a unit's first byte. */
static bool find_start_code(struct bytes *bytes)
{
    for (; bytes->end - bytes->at > START_CODE_SIZE; bytes->at++) {
        if (AV_RB24(bytes->at) == 1) {
            bytes->at += START_CODE_SIZE;
            return true;
        }
    }
    return false;
}

/* What the slices of a packet that were looked at so far say. */
struct slices {
    bool any;
    bool referenced;
};

static void look_at_unit(struct slices *slices, uint8_t header)
{
    const int type = header & UNIT_TYPE_MASK;
    if (type != SLICE && type != SLICE_PARTITION_A && type != SLICE_IDR)
        return;
    slices->any = true;
    slices->referenced |= (header & REF_IDC_MASK) != 0;
}

static struct slices slices_after_start_codes(struct bytes bytes)
{
    struct slices slices = {0};
    while (!slices.referenced && find_start_code(&bytes))
        look_at_unit(&slices, *bytes.at);
    return slices;
}

static struct slices slices_after_lengths(struct bytes bytes, int length_size)
{
    struct slices slices = {0};
    while (!slices.referenced && bytes.end - bytes.at > length_size) {
        uint32_t length = 0;
        for (int i = 0; i < length_size; i++)
            length = length << 8 | *bytes.at++;
        look_at_unit(&slices, *bytes.at);
        if (length > (uint32_t)(bytes.end - bytes.at))
            break;
        bytes.at += length;
    }
    return slices;
}

bool packet_is_droppable(const AVCodecParameters *stream, const AVPacket *packet)
{
    if (stream->codec_id != AV_CODEC_ID_H264 || packet->size <= 0)
        return false;
    const struct bytes bytes = {packet->data, packet->data + packet->size};
    const bool has_lengths = stream->extradata_size > LENGTH_BYTE && stream->extradata[0] == CONFIGURATION_VERSION;
    const struct slices slices = has_lengths
        ? slices_after_lengths(bytes, (stream->extradata[LENGTH_BYTE] & LENGTH_MASK) + 1)
        : slices_after_start_codes(bytes);
    return slices.any && !slices.referenced;
}
