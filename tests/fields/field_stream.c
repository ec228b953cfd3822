/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "field_stream.h"

#include <string.h>

#include "field_cabac.h"
#include "field_slice.h"

enum {
    WIDTH_MBS = 24,
    FIELD_HEIGHT_MBS = 12, /* 384x384 */
    FRAME_NUM_BITS = 8,
    POC_LSB_BITS = 8,
    QP = 18, /* low, so that errors of samples are not hidden by noise and clipping */
    NAL_SLICE = 1,
    NAL_IDR = 5,
    NAL_SPS = 7,
    NAL_PPS = 8,
    PROFILE_MAIN = 77,
    LEVEL_4 = 40,
    SLICE_P = 5, /* all slices of the picture are P */
    SLICE_I = 7,
};

struct field {
    int index; /* index in the stream; even numbers are top fields */
    int first_mb;
    int mb_count;
    int frame_num;
    bool idr;
    bool inter;
    bool reference;
};

static void put_sps(struct bit_writer *writer)
{
    bits_start_nal(writer, 3, NAL_SPS);
    bits_put(writer, 8, PROFILE_MAIN);
    bits_put(writer, 8, 0); /* constraint flags */
    bits_put(writer, 8, LEVEL_4);
    bits_put_ue(writer, 0); /* seq_parameter_set_id */
    bits_put_ue(writer, FRAME_NUM_BITS - 4);
    bits_put_ue(writer, 0); /* pic_order_cnt_type */
    bits_put_ue(writer, POC_LSB_BITS - 4);
    bits_put_ue(writer, 2); /* max_num_ref_frames */
    bits_put(writer, 1, 0); /* gaps_in_frame_num_value_allowed_flag */
    bits_put_ue(writer, WIDTH_MBS - 1);
    bits_put_ue(writer, FIELD_HEIGHT_MBS - 1);
    bits_put(writer, 1, 0); /* frame_mbs_only_flag */
    bits_put(writer, 1, 0); /* mb_adaptive_frame_field_flag */
    bits_put(writer, 1, 1); /* direct_8x8_inference_flag */
    bits_put(writer, 1, 0); /* frame_cropping_flag */
    bits_put(writer, 1, 0); /* vui_parameters_present_flag */
    bits_end_nal(writer);
}

static void put_pps(struct bit_writer *writer, bool cabac)
{
    bits_start_nal(writer, 3, NAL_PPS);
    bits_put_ue(writer, 0); /* pic_parameter_set_id */
    bits_put_ue(writer, 0); /* seq_parameter_set_id */
    bits_put(writer, 1, cabac); /* entropy_coding_mode_flag */
    bits_put(writer, 1, 0); /* bottom_field_pic_order_in_frame_present_flag */
    bits_put_ue(writer, 0); /* num_slice_groups_minus1 */
    bits_put_ue(writer, 1); /* num_ref_idx_l0_default_active_minus1 */
    bits_put_ue(writer, 0); /* num_ref_idx_l1_default_active_minus1 */
    bits_put(writer, 1, 0); /* weighted_pred_flag */
    bits_put(writer, 2, 0); /* weighted_bipred_idc */
    bits_put_se(writer, QP - 26);
    bits_put_se(writer, 0); /* pic_init_qs_minus26 */
    bits_put_se(writer, 0); /* chroma_qp_index_offset */
    bits_put(writer, 1, 1); /* deblocking_filter_control_present_flag */
    bits_put(writer, 1, 0); /* constrained_intra_pred_flag */
    bits_put(writer, 1, 0); /* redundant_pic_cnt_present_flag */
    bits_end_nal(writer);
}

static void put_slice_header(struct bit_writer *writer, const struct field *field, bool cabac)
{
    bits_put_ue(writer, field->first_mb);
    bits_put_ue(writer, field->inter ? SLICE_P : SLICE_I);
    bits_put_ue(writer, 0); /* pic_parameter_set_id */
    bits_put(writer, FRAME_NUM_BITS, field->frame_num % (1 << FRAME_NUM_BITS));
    bits_put(writer, 1, 1); /* field_pic_flag */
    bits_put(writer, 1, field->index % 2);
    if (field->idr)
        bits_put_ue(writer, 0); /* idr_pic_id */
    bits_put(writer, POC_LSB_BITS, field->index % (1 << POC_LSB_BITS));
    if (field->inter) {
        bits_put(writer, 1, 0); /* num_ref_idx_active_override_flag */
        bits_put(writer, 1, 0); /* ref_pic_list_modification_flag_l0 */
    }
    if (field->idr)
        bits_put(writer, 2, 0); /* no_output_of_prior_pics_flag, long_term_reference_flag */
    else if (field->reference)
        bits_put(writer, 1, 0); /* adaptive_ref_pic_marking_mode_flag */
    if (cabac && field->inter)
        bits_put_ue(writer, 0); /* cabac_init_idc */
    bits_put_se(writer, 0);     /* slice_qp_delta */
    bits_put_ue(writer, 0);     /* disable_deblocking_filter_idc */
    bits_put_se(writer, 6);     /* slice_alpha_c0_offset_div2: a strong filter despite the low QP */
    bits_put_se(writer, 6);     /* slice_beta_offset_div2 */
}

static void put_field(struct bit_writer *writer, const struct field_stream_options *options,
                      uint64_t *random, struct field field)
{
    const int slices = options->slices_per_field;
    for (int i = 0; i < slices; i++) {
        /* A slice has whole rows, so that only its first block has no neighbours. */
        field.first_mb = FIELD_HEIGHT_MBS * i / slices * WIDTH_MBS;
        field.mb_count = FIELD_HEIGHT_MBS * (i + 1) / slices * WIDTH_MBS - field.first_mb;
        bits_start_nal(writer, field.reference, field.idr ? NAL_IDR : NAL_SLICE);
        put_slice_header(writer, &field, options->cabac);
        if (options->cabac) {
            cabac_put_macroblocks(writer, random, WIDTH_MBS, field.mb_count / WIDTH_MBS, field.inter, QP);
        } else {
            slice_put_macroblocks(writer, random, field.mb_count, field.inter);
            bits_end_nal(writer);
        }
    }
}

static bool is_reference(enum field_pairs pairs, int pair, int parity)
{
    if (pair % 2 == 0)
        return true;
    return (pairs == PAIRS_DROPPABLE_FIRST && parity == 1) ||
           (pairs == PAIRS_REFERENCE_FIRST && parity == 0);
}

/* Appends the contents of the writer as a packet, and empties the writer. */
static int flush_packet(struct coded_stream *stream, struct bit_writer *writer, int pair)
{
    AVPacket *packet = av_packet_alloc();
    int ret = packet ? av_new_packet(packet, writer->size) : AVERROR(ENOMEM);
    if (ret >= 0) {
        memcpy(packet->data, writer->bytes, writer->size);
        packet->pts = packet->dts = pair;
        ret = stream_append(stream, packet);
    }
    av_packet_free(&packet);
    bits_finish(writer);
    return ret;
}

static int write_pairs(struct coded_stream *stream, struct bit_writer *writer,
                       const struct field_stream_options *options)
{
    uint64_t random = options->seed | 1;
    int frame_num = 0;
    for (int index = 0; index < 2 * options->pair_count; index++) {
        const int pair = index / 2, parity = index % 2;
        put_field(writer, options, &random, (struct field){
            .index = index,
            .frame_num = frame_num,
            .idr = index == 0,
            .inter = pair > 0,
            .reference = is_reference(options->pairs, pair, parity),
        });
        if (parity == 0 && options->pair_in_one_packet)
            continue;
        const int ret = flush_packet(stream, writer, pair);
        if (ret < 0)
            return ret;
        /* A droppable pair has the frame_num of the reference pair that follows it. */
        if (parity == 1 && pair % 2 == 0)
            frame_num++;
    }
    return 0;
}

int field_stream_write(struct coded_stream *stream, const struct field_stream_options *options)
{
    *stream = (struct coded_stream){0};
    stream->parameters = avcodec_parameters_alloc();
    if (!stream->parameters)
        return AVERROR(ENOMEM);
    stream->parameters->codec_type = AVMEDIA_TYPE_VIDEO;
    stream->parameters->codec_id = AV_CODEC_ID_H264;

    struct bit_writer writer = {0};
    put_sps(&writer);
    put_pps(&writer, options->cabac);
    const int ret = write_pairs(stream, &writer, options);
    bits_finish(&writer);
    if (ret < 0)
        stream_finish(stream);
    return ret;
}
