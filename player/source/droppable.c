/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "droppable.h"

#include "vpx_frames.h"

static void configure(struct droppable *droppable, struct bytes configuration)
{
    switch (droppable->codec) {
    case AV_CODEC_ID_H264:
    case AV_CODEC_ID_HEVC: nal_configure(&droppable->nal, configuration); break;
    case AV_CODEC_ID_MPEG4: mpeg_configure(&droppable->mpeg, configuration); break;
    case AV_CODEC_ID_AV1: av1_configure(&droppable->av1, configuration); break;
    default: break;
    }
}

static struct bytes bytes_of(const uint8_t *data, size_t size)
{
    return (struct bytes){data, data ? data + size : data};
}

void droppable_init(struct droppable *droppable, const AVCodecParameters *stream)
{
    *droppable = (struct droppable){.codec = stream->codec_id};
    switch (droppable->codec) {
    case AV_CODEC_ID_H264:
    case AV_CODEC_ID_HEVC: droppable->nal.codec = droppable->codec; break;
    case AV_CODEC_ID_MPEG1VIDEO:
    case AV_CODEC_ID_MPEG2VIDEO:
    case AV_CODEC_ID_MPEG4: droppable->mpeg.codec = droppable->codec; break;
    default: break;
    }
    configure(droppable, bytes_of(stream->extradata, (size_t)stream->extradata_size));
}

static bool look_at_nal_units(struct droppable *droppable, struct bytes packet)
{
    const struct nal_facts facts = nal_look_at_packet(&droppable->nal, packet);
    droppable->gradual = facts.gradual;
    return facts.droppable;
}

bool droppable_packet(struct droppable *droppable, const AVPacket *packet)
{
    droppable->gradual = 0;
    size_t size = 0;
    const uint8_t *const configuration = av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, &size);
    if (configuration)
        configure(droppable, bytes_of(configuration, size));
    if (packet->size <= 0)
        return false;
    const struct bytes bytes = bytes_of(packet->data, (size_t)packet->size);
    switch (droppable->codec) {
    case AV_CODEC_ID_H264:
    case AV_CODEC_ID_HEVC: return look_at_nal_units(droppable, bytes);
    case AV_CODEC_ID_MPEG1VIDEO:
    case AV_CODEC_ID_MPEG2VIDEO:
    case AV_CODEC_ID_MPEG4: return mpeg_packet_is_droppable(&droppable->mpeg, bytes);
    case AV_CODEC_ID_VP8: return vp8_packet_is_droppable(bytes);
    case AV_CODEC_ID_VP9: return vp9_packet_is_droppable(bytes);
    case AV_CODEC_ID_AV1: return av1_look_at_unit(&droppable->av1, bytes).droppable;
    default: return false;
    }
}

void droppable_flush(struct droppable *droppable)
{
    if (droppable->codec == AV_CODEC_ID_MPEG4)
        mpeg_flush(&droppable->mpeg);
}
