/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "made_streams.h"

#include <string.h>

#include <libavutil/intreadwrite.h>

#include "hevc_tiles.h"

static int copy_parameters(struct coded_stream *made, const struct coded_stream *stream)
{
    *made = (struct coded_stream){.parameters = avcodec_parameters_alloc()};
    return made->parameters ? avcodec_parameters_copy(made->parameters, stream->parameters) : AVERROR(ENOMEM);
}

bool damaged_stream_changes(size_t packet)
{
    return packet % 4 == 3;
}

int damaged_stream(struct coded_stream *made, const struct coded_stream *stream, uint64_t random)
{
    int ret = copy_parameters(made, stream);
    for (size_t i = 0; ret >= 0 && i < stream->packet_count; i++) {
        ret = stream_append(made, stream->packets[i]);
        AVPacket *packet = ret < 0 ? NULL : made->packets[i];
        if (!packet || !damaged_stream_changes(i) || packet->size < 128)
            continue;
        ret = av_packet_make_writable(packet);
        for (int j = 0; ret >= 0 && j < 3; j++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            packet->data[64 + (random >> 33) % (uint64_t)(packet->size - 64)] ^= 0x55;
        }
    }
    return ret;
}

int mutate_packet(AVPacket *packet, uint64_t random)
{
    enum { HEADER_BYTES = 32 };
    const int ret = av_packet_make_writable(packet);
    if (ret < 0 || !packet->size)
        return ret;
    const uint64_t among = random % 2 && packet->size > HEADER_BYTES ? HEADER_BYTES : (uint64_t)packet->size;
    packet->data[(random >> 8) % among] ^= (uint8_t)(1u << (random >> 40) % 8);
    return 0;
}

int mutated_stream(struct coded_stream *made, const struct coded_stream *stream, uint64_t random, int *mutations)
{
    int ret = copy_parameters(made, stream);
    for (size_t i = 0; ret >= 0 && i < stream->packet_count; i++) {
        ret = stream_append(made, stream->packets[i]);
        random = random * 6364136223846793005u + 1442695040888963407u;
        if (ret < 0 || random >> 63)
            continue;
        ret = mutate_packet(made->packets[i], random >> 16);
        ++*mutations;
    }
    return ret;
}

/* The decoder takes the second stream's configuration from its first packet. */
static int add_configuration(AVPacket *packet, const AVCodecParameters *parameters)
{
    if (!parameters->extradata_size)
        return 0;
    uint8_t *const data = av_packet_new_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, (size_t)parameters->extradata_size);
    if (!data)
        return AVERROR(ENOMEM);
    memcpy(data, parameters->extradata, (size_t)parameters->extradata_size);
    return 0;
}

int joined_stream(struct coded_stream *made, const struct coded_stream *first, const struct coded_stream *second)
{
    int64_t end = 0;
    int ret = copy_parameters(made, first);
    for (size_t i = 0; ret >= 0 && i < first->packet_count; i++) {
        ret = stream_append(made, first->packets[i]);
        end = FFMAX(end, first->packets[i]->pts + 1);
    }
    for (size_t i = 0; ret >= 0 && i < second->packet_count; i++) {
        ret = stream_append(made, second->packets[i]);
        if (ret < 0)
            break;
        AVPacket *const packet = made->packets[made->packet_count - 1];
        if (packet->pts != AV_NOPTS_VALUE)
            packet->pts += end; /* they only have to differ */
        if (i == 0)
            ret = add_configuration(packet, second->parameters);
    }
    return ret;
}

/* HEVC, 7.3.1.2, 7.3.6.1: TRAIL_R of the lowest sub-layer, with first_slice_segment_in_pic_flag, parameters 0, slice_type B. */
static bool is_lower_b(const uint8_t *unit)
{
    return unit[0] == 0x02 && unit[1] == 0x01 && unit[2] >> 5 == 7;
}

int relabelled_stream(struct coded_stream *made, const struct coded_stream *stream)
{
    enum { LENGTH_SIZE = 4, HEADER_SIZE = 3 };
    int ret = copy_parameters(made, stream);
    for (size_t i = 0; ret >= 0 && i < stream->packet_count; i++) {
        ret = stream_append(made, stream->packets[i]);
        AVPacket *const packet = ret < 0 ? NULL : made->packets[i];
        if (packet)
            ret = av_packet_make_writable(packet);
        for (int64_t at = LENGTH_SIZE; ret >= 0 && at + HEADER_SIZE <= packet->size;
             at += (int64_t)AV_RB32(packet->data + at - LENGTH_SIZE) + LENGTH_SIZE)
            if (is_lower_b(packet->data + at))
                packet->data[at] = 0; /* TRAIL_N */
    }
    return ret;
}

/*
 * An SEI message with film grain characteristics (H.264, D.1.21; HEVC, D.2.21): additive noise for luma. In bits: 0 (not
 * cancelled), model 00, 0 (no colours of its own), blending 00, scale 0101, components 100; 00000000 (one interval), 010
 * (three values), from 00000000 to 11111111; se(40), se(8), se(8); 1: for this picture (H.264), for all (HEVC).
 */
static const uint8_t grain_payload[] = {0x01, 0x60, 0x02, 0x00, 0xff, 0x02, 0x80, 0x40, 0x21};

/* Writes the NAL unit behind its start code or its length. Returns its size. */
static size_t write_grain_unit(uint8_t *out, enum AVCodecID codec, bool has_length)
{
    enum { H264_SEI = 6, HEVC_SEI = 39, GRAIN = 19, STOP = 0x80 };
    uint8_t *at = out + 4;
    if (codec == AV_CODEC_ID_H264) {
        *at++ = H264_SEI;
    } else {
        *at++ = HEVC_SEI << 1;
        *at++ = 1;
    }
    *at++ = GRAIN;
    *at++ = sizeof(grain_payload);
    memcpy(at, grain_payload, sizeof(grain_payload));
    at += sizeof(grain_payload);
    *at++ = STOP;
    AV_WB32(out, has_length ? (uint32_t)(at - out - 4) : 1);
    return (size_t)(at - out);
}

/* Appends a copy of the packet to *made, with these bytes before its own. */
static int append_behind(struct coded_stream *made, const uint8_t *bytes, size_t size, const AVPacket *original)
{
    int ret = stream_append(made, original);
    if (ret < 0)
        return ret;
    AVPacket *const packet = made->packets[made->packet_count - 1];
    ret = av_grow_packet(packet, (int)size);
    if (ret >= 0)
        ret = av_packet_make_writable(packet);
    if (ret < 0)
        return ret;
    memmove(packet->data + size, packet->data, (size_t)original->size);
    memcpy(packet->data, bytes, size);
    return 0;
}

int grainy_stream(struct coded_stream *made, const struct coded_stream *stream)
{
    uint8_t unit[32];
    const AVCodecParameters *const parameters = stream->parameters;
    const bool has_lengths = parameters->extradata_size && parameters->extradata[0] == 1; /* ISO/IEC 14496-15 */
    const size_t unit_size = write_grain_unit(unit, parameters->codec_id, has_lengths);
    int ret = copy_parameters(made, stream);
    for (size_t i = 0; ret >= 0 && i < stream->packet_count; i++)
        ret = append_behind(made, unit, unit_size, stream->packets[i]);
    return ret;
}

int tiled_stream(struct coded_stream *made, const struct coded_stream *stream)
{
    int ret = copy_parameters(made, stream);
    const int rows = stream->packet_count ? count_slices(stream->packets[0]) : 0;
    if (ret < 0 || rows < 2)
        return ret < 0 ? ret : AVERROR_INVALIDDATA;
    av_freep(&made->parameters->extradata); /* key packets have parameter sets of their own */
    made->parameters->extradata_size = 0;
    for (size_t i = 0; ret >= 0 && i < stream->packet_count; i++) {
        ret = stream_append(made, stream->packets[i]);
        if (ret >= 0)
            ret = add_tiles(made->packets[i], rows);
    }
    return ret;
}

int captioned_stream(struct coded_stream *made, const struct coded_stream *stream)
{
    /* An OBU of metadata (AV1, 5.8.2): ITU-T T.35 of the United States, ATSC A/53, "GA94", captions: one pair of bytes. */
    uint8_t unit[] = {0x2a, 16, 4, 0xb5, 0x00, 0x31, 'G', 'A', '9', '4', 3, 0x41, 0xff, 0xfc, 0, 0, 0xff, 0x80};
    enum { PAIR_AT = 14 };
    int ret = copy_parameters(made, stream);
    for (size_t i = 0; ret >= 0 && i < stream->packet_count; i++) {
        AV_WB16(unit + PAIR_AT, (uint16_t)i);
        ret = append_behind(made, unit, sizeof(unit), stream->packets[i]);
    }
    return ret;
}

int captions_number(const AVFrame *picture)
{
    enum { TRIPLET = 3, PAIR_AT = 1 };
    const AVFrameSideData *const captions = av_frame_get_side_data(picture, AV_FRAME_DATA_A53_CC);
    return captions && captions->size >= TRIPLET ? AV_RB16(captions->data + PAIR_AT) : -1;
}

/* Appends a packet of these bytes behind the last one, with a time of its own. */
static int append_bytes(struct coded_stream *made, const uint8_t *bytes, size_t size, const AVPacket *last)
{
    AVPacket *packet = av_packet_alloc();
    int ret = packet ? av_new_packet(packet, (int)size) : AVERROR(ENOMEM);
    if (ret >= 0) {
        memcpy(packet->data, bytes, size);
        packet->pts = last->pts + 1; /* times only have to differ */
        packet->dts = last->dts + 1;
        ret = stream_append(made, packet);
    }
    av_packet_free(&packet);
    return ret;
}

int repeating_stream(struct coded_stream *made, const struct coded_stream *stream)
{
    /* VP9, 6.2: frame_marker 10, profile 00, show_existing_frame 1, frame_to_show_map_idx 000 */
    static const uint8_t show_slot_0[] = {0x88};
    int ret = copy_parameters(made, stream);
    for (size_t i = 0; ret >= 0 && i < stream->packet_count; i++) {
        ret = stream_append(made, stream->packets[i]);
        if (ret >= 0 && i % 4 == 3)
            ret = append_bytes(made, show_slot_0, sizeof(show_slot_0), stream->packets[i]);
    }
    return ret;
}

/* MPEG-4: returns whether the packet begins with a B-VOP. */
static bool is_b_vop(const AVPacket *packet)
{
    enum { START_CODE = 0x000001b6, CODING_TYPE_B = 2, SIZE = 5 };
    return packet->size >= SIZE && AV_RB32(packet->data) == START_CODE && packet->data[4] >> 6 == CODING_TYPE_B;
}

int not_coded_end_stream(struct coded_stream *made, const struct coded_stream *stream)
{
    /* Type P, modulo_time_base 0, a marker, 5 bits of time (25 units a second), a marker, vop_coded 0, stuffing */
    static const uint8_t not_coded[] = {0, 0, 1, 0xb6, 0x50, 0x4f};
    int ret = copy_parameters(made, stream);
    size_t count = stream->packet_count;
    while (count && !is_b_vop(stream->packets[count - 1]))
        count--;
    for (size_t i = 0; ret >= 0 && i < count; i++)
        ret = stream_append(made, stream->packets[i]);
    if (ret >= 0)
        ret = count ? append_bytes(made, not_coded, sizeof(not_coded), stream->packets[count - 1]) : AVERROR_INVALIDDATA;
    return ret;
}
