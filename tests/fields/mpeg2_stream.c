/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mpeg2_stream.h"

#include <string.h>

#include "bit_writer.h"
#include "field_slice.h"

/* The section and table numbers are those of ISO/IEC 13818-2. */
enum {
    WIDTH_MBS = 22,
    FIELD_HEIGHT_MBS = 6, /* 352x192 */
    PICTURE = 0x00,
    SEQUENCE = 0xb3,
    EXTENSION = 0xb5,
    GROUP = 0xb8,
    TYPE_I = 1,
    TYPE_P = 2,
    TYPE_B = 3,
    BLOCKS = 6,
    DC_RESET = 128,
};

struct code {
    int length;
    uint32_t bits;
};

static void put_code(struct bit_writer *writer, struct code code)
{
    bits_put(writer, code.length, code.bits);
}

/* No start code has such bits behind it that the writer for H.264 would change them. */
static void put_start_code(struct bit_writer *writer, int code)
{
    bits_start_nal(writer, code >> 5, code & 31);
}

/* 6.2.2.1, 6.2.2.3 */
static void put_sequence(struct bit_writer *writer)
{
    put_start_code(writer, SEQUENCE);
    bits_put(writer, 12, WIDTH_MBS * 16);
    bits_put(writer, 12, FIELD_HEIGHT_MBS * 32);
    bits_put(writer, 4, 1);  /* aspect_ratio_information: square */
    bits_put(writer, 4, 3);  /* frame_rate_code: 25 */
    bits_put(writer, 18, 10000);
    bits_put(writer, 1, 1);  /* marker_bit */
    bits_put(writer, 10, 100); /* vbv_buffer_size_value */
    bits_put(writer, 3, 0);  /* constrained_parameters_flag, no matrices */
    bits_align(writer);
    put_start_code(writer, EXTENSION);
    bits_put(writer, 4, 1);
    bits_put(writer, 8, 0x48); /* main profile at main level */
    bits_put(writer, 1, 0);  /* progressive_sequence */
    bits_put(writer, 2, 1);  /* chroma_format: 4:2:0 */
    bits_put(writer, 4 + 12, 0); /* extensions of sizes and rate */
    bits_put(writer, 1, 1);  /* marker_bit */
    bits_put(writer, 8 + 1 + 2 + 5, 0);
    bits_align(writer);
}

/* 6.2.2.6 */
static void put_group(struct bit_writer *writer)
{
    put_start_code(writer, GROUP);
    bits_put(writer, 12, 0);
    bits_put(writer, 1, 1); /* marker_bit */
    bits_put(writer, 12, 0);
    bits_put(writer, 2, 2); /* closed_gop */
    bits_align(writer);
}

/* 6.2.3, 6.2.3.1 */
static void put_picture_header(struct bit_writer *writer, int type, int temporal_reference, bool bottom)
{
    put_start_code(writer, PICTURE);
    bits_put(writer, 10, (uint32_t)temporal_reference);
    bits_put(writer, 3, (uint32_t)type);
    bits_put(writer, 16, 0xffff); /* vbv_delay */
    for (int direction = 1; direction < type; direction++)
        bits_put(writer, 4, 7);   /* full_pel_vector, f_code: both in the extension */
    bits_put(writer, 1, 0);       /* extra_bit_picture */
    bits_align(writer);
    put_start_code(writer, EXTENSION);
    bits_put(writer, 4, 8);
    bits_put(writer, 8, type >= TYPE_P ? 0x11 : 0xff); /* f_code forward: 1, or not used */
    bits_put(writer, 8, type >= TYPE_B ? 0x11 : 0xff);
    bits_put(writer, 2, 0);       /* intra_dc_precision: 8 bits */
    bits_put(writer, 2, bottom ? 2 : 1);
    bits_put(writer, 10, 0);      /* top_field_first to composite_display_flag; a field picture has no dct_type */
    bits_align(writer);
}

/* Tables B-12 and B-13. Writes a DC difference. */
static void put_dc(struct bit_writer *writer, int difference, bool luma)
{
    static const struct code luma_sizes[] = {{3, 4}, {2, 0}, {2, 1}, {3, 5}, {3, 6}, {4, 14}, {5, 30}, {6, 62}, {7, 126}};
    static const struct code chroma_sizes[] = {{2, 0}, {2, 1}, {2, 2}, {3, 6}, {4, 14}, {5, 30}, {6, 62}, {7, 126}, {8, 254}};
    int size = 0;
    while ((difference < 0 ? -difference : difference) >> size)
        size++;
    put_code(writer, luma ? luma_sizes[size] : chroma_sizes[size]);
    bits_put(writer, size, (uint32_t)(difference >= 0 ? difference : difference + (1 << size) - 1));
}

/* Table B-14: up to three coefficients 1 or -1 behind the DC, with runs 0 or 1. */
static void put_ac(struct bit_writer *writer, uint64_t *random)
{
    for (uint32_t i = random_below(random, 4); i > 0; i--) {
        if (random_below(random, 2))
            bits_put(writer, 2, 3); /* run 0 */
        else
            bits_put(writer, 3, 3); /* run 1 */
        bits_put(writer, 1, random_below(random, 2));
    }
    bits_put(writer, 2, 2); /* end of block */
}

struct slice {
    struct bit_writer *writer;
    uint64_t *random;
    int type;
    int dc[3]; /* the predictions */
};

static void reset_dc(struct slice *slice)
{
    for (int i = 0; i < 3; i++)
        slice->dc[i] = DC_RESET;
}

static void put_intra(struct slice *slice)
{
    for (int block = 0; block < BLOCKS; block++) {
        int *const dc = &slice->dc[block < 4 ? 0 : block - 3];
        const int value = (int)random_below(slice->random, 256);
        put_dc(slice->writer, value - *dc, block < 4);
        *dc = value;
        put_ac(slice->writer, slice->random);
    }
}

/* Table B-10: a code from -3 to 3; with f_code 1 nothing follows. */
static void put_motion_code(struct slice *slice)
{
    const int size = (int)random_below(slice->random, 4);
    bits_put(slice->writer, size + 1, 1);
    if (size)
        bits_put(slice->writer, 1, random_below(slice->random, 2));
}

static void put_vector(struct slice *slice)
{
    bits_put(slice->writer, 1, random_below(slice->random, 2)); /* motion_vertical_field_select */
    put_motion_code(slice);
    put_motion_code(slice);
}

/*
 * Tables B-2 to B-4: intra, or predicted from one or two fields without coefficients. A vector reaches less than a
 * macroblock far, and must not leave the picture, so those at the edges are intra.
 */
static void put_macroblock(struct slice *slice, bool is_at_edge)
{
    static const struct code predicted[] = {{4, 2}, {3, 2}, {2, 2}}; /* in B: forward, backward, both */
    bits_put(slice->writer, 1, 1); /* macroblock_address_increment */
    if (slice->type == TYPE_I || is_at_edge || random_below(slice->random, 4) == 0) {
        put_code(slice->writer, slice->type == TYPE_I ? (struct code){1, 1} : (struct code){5, 3});
        put_intra(slice);
        return;
    }
    const uint32_t kind = slice->type == TYPE_B ? random_below(slice->random, 3) : 0;
    put_code(slice->writer, slice->type == TYPE_B ? predicted[kind] : (struct code){3, 1});
    bits_put(slice->writer, 2, 1); /* field_motion_type: one vector */
    put_vector(slice);
    if (kind == 2)
        put_vector(slice);
    reset_dc(slice);
}

static void put_slice(struct bit_writer *writer, uint64_t *random, int type, int row)
{
    struct slice slice = {.writer = writer, .random = random, .type = type};
    reset_dc(&slice);
    put_start_code(writer, row + 1);
    bits_put(writer, 5, 8); /* quantiser_scale_code */
    bits_put(writer, 1, 0); /* extra_bit_slice */
    const bool is_edge_row = row == 0 || row == FIELD_HEIGHT_MBS - 1;
    for (int x = 0; x < WIDTH_MBS; x++)
        put_macroblock(&slice, is_edge_row || x == 0 || x == WIDTH_MBS - 1);
    bits_align(writer);
}

bool mpeg2_stream_is_b(int pair)
{
    return pair && pair % 3 != 1;
}

/* I0 P3 B1 B2 P6 B4 B5 … */
static int display_place(int pair)
{
    if (!pair)
        return 0;
    return mpeg2_stream_is_b(pair) ? pair - 1 : pair + 2;
}

static void put_field(struct bit_writer *writer, uint64_t *random, int pair, bool bottom)
{
    const int type = mpeg2_stream_is_b(pair) ? TYPE_B : pair || bottom ? TYPE_P : TYPE_I;
    put_picture_header(writer, type, display_place(pair), bottom);
    for (int row = 0; row < FIELD_HEIGHT_MBS; row++)
        put_slice(writer, random, type, row);
}

static int flush_packet(struct coded_stream *stream, struct bit_writer *writer, int pair)
{
    AVPacket *packet = av_packet_alloc();
    int ret = packet ? av_new_packet(packet, (int)writer->size) : AVERROR(ENOMEM);
    if (ret >= 0) {
        memcpy(packet->data, writer->bytes, writer->size);
        packet->dts = pair;
        packet->pts = display_place(pair);
        ret = stream_append(stream, packet);
    }
    av_packet_free(&packet);
    bits_finish(writer);
    return ret;
}

int mpeg2_stream_write(struct coded_stream *stream, int pair_count, bool pair_in_one_packet, uint64_t seed)
{
    *stream = (struct coded_stream){.parameters = avcodec_parameters_alloc()};
    if (!stream->parameters)
        return AVERROR(ENOMEM);
    stream->parameters->codec_type = AVMEDIA_TYPE_VIDEO;
    stream->parameters->codec_id = AV_CODEC_ID_MPEG2VIDEO;
    uint64_t random = seed | 1;
    struct bit_writer writer = {0};
    put_sequence(&writer);
    put_group(&writer);
    int ret = 0;
    for (int field = 0; ret >= 0 && field < 2 * pair_count; field++) {
        put_field(&writer, &random, field / 2, field % 2);
        if (field % 2 || !pair_in_one_packet)
            ret = flush_packet(stream, &writer, field / 2);
    }
    bits_finish(&writer);
    if (ret < 0)
        stream_finish(stream);
    return ret;
}
