/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "vpx_frames.h"

#include <libavutil/intreadwrite.h>

/* The arithmetic decoder of VP8, for header fields, in which both values of a bit are equally likely (RFC 6386, 7.3). */
struct bool_decoder {
    struct bits bits;
    uint32_t value; /* the next two bytes */
    uint32_t range;
};

static void bool_start(struct bool_decoder *decoder, struct bytes bytes)
{
    *decoder = (struct bool_decoder){.bits = {.bytes = bytes}, .range = 255};
    decoder->value = bits_read(&decoder->bits, 16);
}

static bool bool_flag(struct bool_decoder *decoder)
{
    const uint32_t split = 1 + ((decoder->range - 1) * 128 >> 8);
    const bool flag = decoder->value >= split << 8;
    decoder->value -= flag ? split << 8 : 0;
    decoder->range = flag ? decoder->range - split : split;
    while (decoder->range < 128) {
        decoder->range <<= 1;
        decoder->value = decoder->value << 1 | bits_flag(&decoder->bits);
    }
    return flag;
}

static void bool_skip(struct bool_decoder *decoder, int count)
{
    while (count-- > 0)
        bool_flag(decoder);
}

/* Skips values of `size` bits and a sign, each behind a flag that says whether it is there. */
static void skip_optional(struct bool_decoder *decoder, int count, int size, bool is_signed)
{
    while (count-- > 0)
        if (bool_flag(decoder))
            bool_skip(decoder, size + is_signed);
}

/* RFC 6386, 9.3. Returns whether the frame updates the segmentation map. */
static bool read_segmentation(struct bool_decoder *decoder)
{
    if (!bool_flag(decoder)) /* segmentation_enabled */
        return false;
    const bool updates_map = bool_flag(decoder);
    if (bool_flag(decoder)) {           /* update_segment_feature_data */
        bool_skip(decoder, 1);          /* segment_feature_mode */
        skip_optional(decoder, 4, 7, true); /* quantizers */
        skip_optional(decoder, 4, 6, true); /* loop filter levels */
    }
    if (updates_map)
        skip_optional(decoder, 3, 8, false); /* probabilities */
    return updates_map;
}

/* RFC 6386, 9.6: filter type, level, sharpness and the deltas of references and modes. */
static void skip_loop_filter(struct bool_decoder *decoder)
{
    bool_skip(decoder, 1 + 6 + 3);
    if (bool_flag(decoder) && bool_flag(decoder)) /* loop_filter_adj_enable, mode_ref_lf_delta_update */
        skip_optional(decoder, 4 + 4, 6, true);
}

/* RFC 6386, 9.7: golden and altref with the frame itself, or else with another reference, and the last picture. */
static bool read_becomes_reference(struct bool_decoder *decoder)
{
    const bool golden = bool_flag(decoder);
    const bool altref = bool_flag(decoder);
    bool_skip(decoder, (golden ? 0 : 2) + (altref ? 0 : 2)); /* copy_buffer_to_golden, copy_buffer_to_arf */
    bool_skip(decoder, 2 + 1); /* sign biases, refresh_entropy_probs */
    const bool last = bool_flag(decoder);
    return golden || altref || last;
}

bool vp8_packet_is_droppable(struct bytes packet)
{
    enum { TAG_SIZE = 3, INTER = 1, SHOWN = 16 }; /* RFC 6386, 9.1 */
    if (bytes_left(&packet) <= TAG_SIZE || !(*packet.at & INTER) || !(*packet.at & SHOWN))
        return false;
    const uint32_t partition_size = AV_RL24(packet.at) >> 5;
    packet.at += TAG_SIZE;
    if (partition_size > bytes_left(&packet))
        return false;
    packet.end = packet.at + partition_size;
    struct bool_decoder decoder;
    bool_start(&decoder, packet);
    const bool updates_map = read_segmentation(&decoder);
    skip_loop_filter(&decoder);
    bool_skip(&decoder, 2);                  /* the number of partitions */
    bool_skip(&decoder, 7);                  /* the quantizer index */
    skip_optional(&decoder, 5, 4, true);     /* its deltas */
    return !read_becomes_reference(&decoder) && !updates_map;
}

/* What the frames of a VP9 packet that were looked at so far say. */
struct shown {
    bool any;
    bool referenced;
};

/* VP9 bitstream specification, 6.2. */
static void look_at_vp9_frame(struct shown *shown, struct bytes frame)
{
    struct bits bits = {.bytes = frame};
    const uint32_t marker = bits_read(&bits, 2);
    const bool low = bits_flag(&bits);
    const bool high = bits_flag(&bits);
    if (low && high)
        bits_skip(&bits, 1); /* reserved_zero */
    const bool shows_existing = bits_flag(&bits);
    const bool is_key = !bits_flag(&bits);
    const bool is_shown = bits_flag(&bits);
    const bool is_resilient = bits_flag(&bits);
    if (bits.ended || marker != 2 || !(is_shown || shows_existing))
        return;
    if (!is_resilient)
        bits_skip(&bits, 2); /* reset_frame_context; a shown frame has no intra_only */
    shown->any = true;
    shown->referenced |= shows_existing || is_key || bits_read(&bits, 8) || bits.ended;
}

/* VP9 bitstream specification, annex B: the sizes of the frames stand at the end, between two equal bytes. */
static int read_superframe_index(struct bytes packet, uint32_t sizes[8])
{
    enum { MARKER = 0xC0, MARKER_MASK = 0xE0 };
    const int last = bytes_left(&packet) ? packet.end[-1] : 0;
    if ((last & MARKER_MASK) != MARKER)
        return 0;
    const int frames = (last & 7) + 1;
    const int size_bytes = (last >> 3 & 3) + 1;
    const size_t index_size = 2 + (size_t)(size_bytes * frames);
    if (bytes_left(&packet) < index_size || packet.end[-(ptrdiff_t)index_size] != last)
        return 0;
    const uint8_t *at = packet.end - index_size + 1;
    for (int i = 0; i < frames; i++) {
        sizes[i] = 0;
        for (int byte = 0; byte < size_bytes; byte++)
            sizes[i] |= (uint32_t)*at++ << 8 * byte;
    }
    return frames;
}

bool vp9_packet_is_droppable(struct bytes packet)
{
    struct shown shown = {0};
    uint32_t sizes[8];
    const int frames = read_superframe_index(packet, sizes);
    if (!frames)
        look_at_vp9_frame(&shown, packet);
    for (int i = 0; i < frames && sizes[i] <= bytes_left(&packet); i++) {
        look_at_vp9_frame(&shown, (struct bytes){packet.at, packet.at + sizes[i]});
        packet.at += sizes[i];
    }
    return shown.any && !shown.referenced;
}
