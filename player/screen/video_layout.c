/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "video_layout.h"

/* The old pixel formats with a "J" in their name are full range. */
static bool is_full_range(const AVFrame *picture)
{
    return picture->color_range == AVCOL_RANGE_JPEG || picture->format == AV_PIX_FMT_YUVJ420P ||
           picture->format == AV_PIX_FMT_YUVJ422P || picture->format == AV_PIX_FMT_YUVJ444P;
}

/* Untagged video is BT.709 when it is high definition, as in SDL and every player we know. */
static enum AVColorSpace matrix_of(const AVFrame *picture)
{
    switch (picture->colorspace) {
    case AVCOL_SPC_BT709:
    case AVCOL_SPC_FCC:
    case AVCOL_SPC_BT470BG:
    case AVCOL_SPC_SMPTE170M:
    case AVCOL_SPC_SMPTE240M:
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL:
        return picture->colorspace;
    default:
        return picture->height > 576 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
    }
}

struct video_layout video_layout_of(const AVFrame *picture)
{
    const AVRational aspect = picture->sample_aspect_ratio;
    return (struct video_layout){
        .width = picture->width,
        .height = picture->height,
        .format = picture->format,
        .colorspace = matrix_of(picture),
        .full_range = is_full_range(picture),
        .sample_aspect = aspect.num > 0 && aspect.den > 0 ? aspect : (AVRational){1, 1},
    };
}

bool video_layouts_equal(const struct video_layout *a, const struct video_layout *b)
{
    return a->width == b->width && a->height == b->height && a->format == b->format &&
           a->colorspace == b->colorspace && a->full_range == b->full_range &&
           av_cmp_q(a->sample_aspect, b->sample_aspect) == 0;
}

void video_layout_displayed(const struct video_layout *layout, int *width, int *height)
{
    const AVRational aspect = layout->sample_aspect;
    *width = layout->width;
    *height = layout->height;
    if (aspect.num >= aspect.den)
        *width = (int)av_rescale(layout->width, aspect.num, aspect.den);
    else
        *height = (int)av_rescale(layout->height, aspect.den, aspect.num);
}

/* By design, AVCOL_SPC_* and SWS_CS_* constants have the same values. */
struct SwsContext *video_layout_scaler(const struct video_layout *layout, int width, int height,
                                       enum AVPixelFormat format, int flags)
{
    if (!sws_isSupportedInput(layout->format))
        return NULL;
    struct SwsContext *const scaler =
        sws_getContext(layout->width, layout->height, layout->format, width, height, format, flags,
                       NULL, NULL, NULL);
    if (scaler)
        sws_setColorspaceDetails(scaler, sws_getCoefficients((int)layout->colorspace),
                                 layout->full_range, sws_getCoefficients(SWS_CS_DEFAULT), 1, 0,
                                 1 << 16, 1 << 16);
    return scaler;
}
