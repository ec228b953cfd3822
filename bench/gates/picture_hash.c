/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "picture_hash.h"

#include <libavutil/error.h>
#include <libavutil/imgutils.h>
#include <libavutil/mem.h>
#include <libavutil/murmur3.h>
#include <libavutil/pixdesc.h>

static void hash_samples(const AVFrame *frame, struct AVMurMur3 *hash)
{
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    for (int plane = 0; plane < av_pix_fmt_count_planes(frame->format); plane++) {
        const int width = av_image_get_linesize(frame->format, frame->width, plane);
        const int shift = plane == 1 || plane == 2 ? format->log2_chroma_h : 0;
        const int height = AV_CEIL_RSHIFT(frame->height, shift);
        for (int y = 0; y < height; y++)
            av_murmur3_update(hash, frame->data[plane] + (ptrdiff_t)y * frame->linesize[plane],
                              width);
    }
}

static void hash_side_data(const AVFrame *frame, struct AVMurMur3 *hash)
{
    for (int i = 0; i < frame->nb_side_data; i++) {
        const AVFrameSideData *const data = frame->side_data[i];
        const uint8_t type = (uint8_t)data->type;
        av_murmur3_update(hash, &type, sizeof(type));
        av_murmur3_update(hash, data->data, data->size);
    }
}

int picture_hash(const AVFrame *frame, struct picture_hash *hash)
{
    struct AVMurMur3 *murmur = av_murmur3_alloc();
    if (!murmur)
        return AVERROR(ENOMEM);
    av_murmur3_init(murmur);
    hash_samples(frame, murmur);
    av_murmur3_final(murmur, hash->samples);
    av_murmur3_init(murmur);
    hash_side_data(frame, murmur);
    av_murmur3_final(murmur, hash->side_data);
    av_free(murmur);
    return 0;
}
