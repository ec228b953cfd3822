/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hevc_tiles.h"

#include <string.h>

#include <libavutil/common.h>
#include <libavutil/error.h>

#include "start_code.h"

enum {
    UNIT_MAX = 48,   /* bytes of a picture parameter set without scaling lists */
    TILED_MAX = 64,  /* the same with tiles */
    ESCAPED_MAX = 96 /* the same with bytes that keep start codes out of it */
};

struct bit_writer {
    uint8_t bytes[TILED_MAX]; /* zero at first */
    int count;                /* bits that were written */
};

static void put_flag(struct bit_writer *out, bool flag)
{
    out->bytes[out->count / 8] |= (uint8_t)(flag << (7 - out->count % 8));
    out->count++;
}

/* Writes a number as ue(v) (HEVC, 9.2). */
static void put_number(struct bit_writer *out, uint32_t number)
{
    const int zeros = av_log2(number + 1);
    for (int i = 0; i < zeros; i++)
        put_flag(out, false);
    for (int i = zeros; i >= 0; i--)
        put_flag(out, (number + 1) >> i & 1);
}

static bool copy_flag(struct bit_writer *out, struct bits *in)
{
    const bool flag = bits_flag(in);
    put_flag(out, flag);
    return flag;
}

static void copy_flags(struct bit_writer *out, struct bits *in, int count)
{
    while (count-- > 0)
        copy_flag(out, in);
}

/* Copies numbers that are written as ue(v) or se(v). */
static void copy_numbers(struct bit_writer *out, struct bits *in, int count)
{
    while (count-- > 0) {
        int zeros = 0;
        while (!in->ended && !copy_flag(out, in))
            zeros++;
        for (int i = 0; i < zeros && !in->ended; i++)
            copy_flag(out, in);
    }
}

/* HEVC, 7.3.2.3.1. Returns false if the set is cut off before the place of the tiles. */
static bool copy_with_tiles(struct bit_writer *out, struct bits *in, uint32_t rows)
{
    copy_flags(out, in, 16);  /* the header of the unit */
    copy_numbers(out, in, 2); /* pps_pic_parameter_set_id and pps_seq_parameter_set_id */
    copy_flags(out, in, 7);   /* dependent_slice_segments_enabled_flag to cabac_init_present_flag */
    copy_numbers(out, in, 3); /* num_ref_idx_l0_default_active_minus1 to init_qp_minus26 */
    copy_flags(out, in, 2);   /* constrained_intra_pred_flag and transform_skip_enabled_flag */
    if (copy_flag(out, in))   /* cu_qp_delta_enabled_flag */
        copy_numbers(out, in, 1);
    copy_numbers(out, in, 2); /* pps_cb_qp_offset and pps_cr_qp_offset */
    copy_flags(out, in, 4);   /* pps_slice_chroma_qp_offsets_present_flag to transquant_bypass_enabled_flag */
    bits_skip(in, 2);
    put_flag(out, true);      /* tiles_enabled_flag */
    put_flag(out, false);     /* entropy_coding_sync_enabled_flag */
    put_number(out, 0);       /* num_tile_columns_minus1 */
    put_number(out, rows - 1);
    put_flag(out, true);      /* uniform_spacing_flag */
    const bool filters_across = bits_flag(in);
    put_flag(out, filters_across); /* loop_filter_across_tiles_enabled_flag */
    put_flag(out, filters_across); /* pps_loop_filter_across_slices_enabled_flag */
    return !in->ended;
}

/* HEVC, 7.3.1.1: a 3 behind two zeros keeps start codes out of a unit. Copies a unit without such bytes. Returns the size. */
static size_t copy_unescaped(uint8_t *out, struct bytes unit)
{
    size_t size = 0;
    int zeros = 0;
    for (; unit.at < unit.end; unit.at++) {
        if (zeros < 2 || *unit.at != 3)
            out[size++] = *unit.at;
        zeros = *unit.at ? 0 : zeros + 1;
    }
    return size;
}

static size_t copy_escaped(uint8_t *out, struct bytes unit)
{
    size_t size = 0;
    int zeros = 0;
    for (; unit.at < unit.end; unit.at++) {
        if (zeros == 2 && *unit.at <= 3) {
            out[size++] = 3;
            zeros = 0;
        }
        out[size++] = *unit.at;
        zeros = *unit.at ? 0 : zeros + 1;
    }
    return size;
}

/* Writes at most ESCAPED_MAX bytes. Returns how many, or AVERROR_INVALIDDATA. */
static int write_with_tiles(uint8_t *out, struct bytes unit, int rows)
{
    uint8_t plain[UNIT_MAX];
    struct bit_writer writer = {0};
    if (bytes_left(&unit) > UNIT_MAX)
        return AVERROR_INVALIDDATA;
    struct bits in = {.bytes = {plain, plain + copy_unescaped(plain, unit)}};
    if (!copy_with_tiles(&writer, &in, (uint32_t)rows))
        return AVERROR_INVALIDDATA;
    while (bytes_left(&in.bytes))
        copy_flag(&writer, &in);
    const uint8_t *end = writer.bytes + (writer.count + 7) / 8;
    while (!end[-1]) /* a unit ends with a byte that is not 0 */
        end--;
    return (int)copy_escaped(out, (struct bytes){writer.bytes, end});
}

static int unit_type(const uint8_t *unit)
{
    return *unit >> 1 & 0x3f;
}

/* Finds the picture parameter set. Returns false if there is none. */
static bool find_parameters(struct bytes bytes, struct bytes *unit)
{
    enum { PICTURE_PARAMETERS = 34, START_CODE_SIZE = 3 };
    while (find_start_code(&bytes)) {
        if (unit_type(bytes.at) != PICTURE_PARAMETERS)
            continue;
        *unit = bytes;
        if (find_start_code(&bytes))
            unit->end = bytes.at - START_CODE_SIZE;
        return true;
    }
    return false;
}

int count_slices(const AVPacket *packet)
{
    enum { SLICES_END = 32 };
    struct bytes bytes = {packet->data, packet->data + packet->size};
    int count = 0;
    while (find_start_code(&bytes))
        count += unit_type(bytes.at) < SLICES_END;
    return count;
}

int add_tiles(AVPacket *packet, int rows)
{
    uint8_t tiled[ESCAPED_MAX];
    struct bytes unit;
    if (!find_parameters((struct bytes){packet->data, packet->data + packet->size}, &unit))
        return 0;
    const int size = write_with_tiles(tiled, unit, rows);
    const int at = (int)(unit.at - packet->data);
    const int end = (int)(unit.end - packet->data);
    const int rest = packet->size - end;
    int ret = size < 0 ? size : av_grow_packet(packet, ESCAPED_MAX);
    if (ret >= 0)
        ret = av_packet_make_writable(packet);
    if (ret < 0)
        return ret;
    memmove(packet->data + at + size, packet->data + end, (size_t)rest);
    memcpy(packet->data + at, tiled, (size_t)size);
    av_shrink_packet(packet, at + size + rest);
    return 0;
}
