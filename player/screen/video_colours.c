/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "video_colours.h"

#include "video_layout.h"

#include <errno.h>
#include <libavutil/pixdesc.h>
#include <stdbool.h>

/* How samples become values from 0 to the most that an output sample can be. */
struct scale {
    float black;   /* the sample of luma that is black */
    float neutral; /* the sample of chroma that has no colour */
    float luma;    /* the value of one step */
    float chroma;
};

static struct scale scale_of(int depth, bool full_range, int most)
{
    const float unit = (float)(1 << (depth - 8)); /* a step of 8 bits */
    const float all = (float)((1 << depth) - 1);
    const float value = (float)most;
    return (struct scale){
        .black = full_range ? 0 : 16 * unit,
        .neutral = 128 * unit,
        .luma = full_range ? value / all : value / (219 * unit),
        .chroma = full_range ? value / all : value / (224 * unit),
    };
}

static float clipped(float value, float most)
{
    return value < 0 ? 0 : value > most ? most : value;
}

/* The planes of a GBR frame, in the order R, G, B. */
enum { RED = 2, GREEN = 0, BLUE = 1 };

#define DEFINE_LINE(name, sample, most)                                                                                    \
    static void name(const AVFrame *rgb, const AVFrame *ycgco, int y, const struct scale *scale)                           \
    {                                                                                                                      \
        const sample *const luma = (const sample *)(ycgco->data[0] + (ptrdiff_t)y * ycgco->linesize[0]);                   \
        const sample *const cg = (const sample *)(ycgco->data[1] + (ptrdiff_t)y * ycgco->linesize[1]);                     \
        const sample *const co = (const sample *)(ycgco->data[2] + (ptrdiff_t)y * ycgco->linesize[2]);                     \
        sample *const red = (sample *)(rgb->data[RED] + (ptrdiff_t)y * rgb->linesize[RED]);                                \
        sample *const green = (sample *)(rgb->data[GREEN] + (ptrdiff_t)y * rgb->linesize[GREEN]);                          \
        sample *const blue = (sample *)(rgb->data[BLUE] + (ptrdiff_t)y * rgb->linesize[BLUE]);                             \
        for (int x = 0; x < rgb->width; x++) {                                                                             \
            const float light = ((float)luma[x] - scale->black) * scale->luma;                                             \
            const float to_green = ((float)cg[x] - scale->neutral) * scale->chroma;                                        \
            const float to_orange = ((float)co[x] - scale->neutral) * scale->chroma;                                       \
            red[x] = (sample)(clipped(light - to_green + to_orange, most) + 0.5f);                                         \
            green[x] = (sample)(clipped(light + to_green, most) + 0.5f);                                                   \
            blue[x] = (sample)(clipped(light - to_green - to_orange, most) + 0.5f);                                        \
        }                                                                                                                  \
    }

DEFINE_LINE(line_of_8_bits, uint8_t, UINT8_MAX)
DEFINE_LINE(line_of_16_bits, uint16_t, UINT16_MAX)

static enum AVPixelFormat whole_format_of_depth(int depth)
{
    switch (depth) {
    case 8: return AV_PIX_FMT_YUV444P;
    case 9: return AV_PIX_FMT_YUV444P9;
    case 10: return AV_PIX_FMT_YUV444P10;
    case 12: return AV_PIX_FMT_YUV444P12;
    case 14: return AV_PIX_FMT_YUV444P14;
    case 16: return AV_PIX_FMT_YUV444P16;
    default: return AV_PIX_FMT_NONE;
    }
}

static int make_frame(AVFrame **frame, enum AVPixelFormat format, int width, int height)
{
    if (!*frame)
        *frame = av_frame_alloc();
    if (!*frame)
        return -ENOMEM;
    av_frame_unref(*frame);
    (*frame)->format = format;
    (*frame)->width = width;
    (*frame)->height = height;
    return av_frame_get_buffer(*frame, 0) < 0 ? -ENOMEM : 0;
}

/* Makes samples of chroma for all samples of luma; nothing else changes. */
static int make_whole(struct video_colours *colours, const AVFrame *picture, enum AVPixelFormat format, bool full_range)
{
    const int width = picture->width, height = picture->height;
    if (!sws_isSupportedInput(picture->format))
        return -ENOTSUP;
    const int ret = make_frame(&colours->whole, format, width, height);
    if (ret < 0)
        return ret;
    colours->upsampler = sws_getCachedContext(colours->upsampler, width, height, picture->format, width, height, format,
                                              SWS_BILINEAR | SWS_ACCURATE_RND | SWS_BITEXACT, NULL, NULL, NULL);
    if (!colours->upsampler)
        return -ENOMEM;
    const int *const any = sws_getCoefficients(SWS_CS_DEFAULT);
    sws_setColorspaceDetails(colours->upsampler, any, full_range, any, full_range, 0, 1 << 16, 1 << 16);
    sws_scale(colours->upsampler, (const uint8_t *const *)picture->data, picture->linesize, 0, height, colours->whole->data,
              colours->whole->linesize);
    return 0;
}

static int convert_ycgco(struct video_colours *colours, const AVFrame *picture, bool full_range)
{
    const int depth = av_pix_fmt_desc_get(picture->format)->comp[0].depth;
    const enum AVPixelFormat format = whole_format_of_depth(depth);
    const bool is_deep = depth > 8;
    if (format == AV_PIX_FMT_NONE)
        return -ENOTSUP;
    int ret = picture->format == format ? 0 : make_whole(colours, picture, format, full_range);
    if (!ret)
        ret = make_frame(&colours->known, is_deep ? AV_PIX_FMT_GBRP16 : AV_PIX_FMT_GBRP, picture->width, picture->height);
    if (ret < 0)
        return ret;
    const AVFrame *const whole = picture->format == format ? picture : colours->whole;
    const struct scale scale = scale_of(depth, full_range, is_deep ? UINT16_MAX : UINT8_MAX);
    for (int y = 0; y < picture->height; y++)
        (is_deep ? line_of_16_bits : line_of_8_bits)(colours->known, whole, y, &scale);
    return 0;
}

/* All three planes of the RGB picture are one. */
static int convert_limited_gray(struct video_colours *colours, const AVFrame *picture)
{
    const int ret = make_frame(&colours->known, AV_PIX_FMT_GRAY8, picture->width, picture->height);
    if (ret < 0)
        return ret;
    AVFrame *const known = colours->known;
    const struct scale scale = scale_of(8, false, UINT8_MAX);
    uint8_t full[UINT8_MAX + 1];
    for (int i = 0; i <= UINT8_MAX; i++)
        full[i] = (uint8_t)(clipped(((float)i - scale.black) * scale.luma, UINT8_MAX) + 0.5f);
    for (int y = 0; y < picture->height; y++) {
        const uint8_t *const from = picture->data[0] + (ptrdiff_t)y * picture->linesize[0];
        uint8_t *const to = known->data[0] + (ptrdiff_t)y * known->linesize[0];
        for (int x = 0; x < picture->width; x++)
            to[x] = full[from[x]];
    }
    known->format = AV_PIX_FMT_GBRP;
    known->data[1] = known->data[2] = known->data[0];
    known->linesize[1] = known->linesize[2] = known->linesize[0];
    return 0;
}

int video_colours_apply(struct video_colours *colours, const AVFrame *picture, const AVFrame **known)
{
    const struct video_layout layout = video_layout_of(picture);
    const bool is_limited_gray = picture->format == AV_PIX_FMT_GRAY8 && !layout.full_range;
    *known = picture;
    if (layout.colorspace != AVCOL_SPC_YCGCO && !is_limited_gray)
        return 0;
    int ret = is_limited_gray ? convert_limited_gray(colours, picture) : convert_ycgco(colours, picture, layout.full_range);
    if (!ret && av_frame_copy_props(colours->known, picture) < 0)
        ret = -ENOMEM;
    if (ret < 0)
        return ret;
    colours->known->colorspace = AVCOL_SPC_RGB;
    colours->known->color_range = AVCOL_RANGE_JPEG;
    *known = colours->known;
    return 0;
}

void video_colours_finish(struct video_colours *colours)
{
    av_frame_free(&colours->known);
    av_frame_free(&colours->whole);
    sws_freeContext(colours->upsampler);
    *colours = (struct video_colours){0};
}
