/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rgb_converter.h"

#include "video_layout.h"

#include <libavutil/error.h>
#include <libavutil/macros.h>
#include <libavutil/mem.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
#include <stdio.h>
#include <string.h>

/* swscale's vector code reads and writes whole blocks. */
enum { ROW_ALIGNMENT = 64 };

void rgb_converter_init(struct rgb_converter *converter)
{
    *converter = (struct rgb_converter){0};
}

void rgb_converter_finish(struct rgb_converter *converter)
{
    video_colours_finish(&converter->colours);
    sws_freeContext(converter->sws);
    rgb_converter_init(converter);
}

/* The components of a Bayer format are parts of one number. */
static bool has_more_than_8_bits(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *const facts = av_pix_fmt_desc_get(format);
    return facts->comp[0].depth > 8 || ((facts->flags & AV_PIX_FMT_FLAG_BAYER) && av_get_bits_per_pixel(facts) > 8);
}

static void take_facts(struct rgb_converter *converter, const AVFrame *picture, const struct video_layout *layout)
{
    const enum AVColorSpace replaced = layout->is_approximate ? picture->colorspace : AVCOL_SPC_UNSPECIFIED;
    if (converter->width) {
        converter->is_mixed |= converter->matrix != layout->colorspace || converter->full_range != layout->full_range ||
                               converter->replaced != replaced;
        return;
    }
    converter->width = layout->width;
    converter->height = layout->height;
    converter->matrix = layout->colorspace;
    converter->replaced = replaced;
    converter->full_range = layout->full_range;
    converter->is_deep = has_more_than_8_bits(picture->format);
}

static int refuse(struct rgb_converter *converter, const AVFrame *picture)
{
    if (sws_isSupportedInput(picture->format))
        return 0;
    snprintf(converter->refusal, sizeof converter->refusal, "its pixel format %s cannot be converted to RGB",
             av_get_pix_fmt_name(picture->format));
    return AVERROR(ENOTSUP);
}

static int prepare(struct rgb_converter *converter, const AVFrame *picture)
{
    /* BITEXACT: the same numbers on every machine, whichever vector unit its processor has. */
    const int how = SWS_BILINEAR | SWS_ACCURATE_RND | SWS_BITEXACT;
    converter->sws = sws_getCachedContext(converter->sws, picture->width, picture->height,
                                          picture->format, converter->width, converter->height,
                                          converter->is_deep ? AV_PIX_FMT_RGB48 : AV_PIX_FMT_RGB24, how, NULL, NULL, NULL);
    if (!converter->sws)
        return AVERROR(ENOMEM);
    const struct video_layout layout = video_layout_of(picture);
    video_layout_set_colours(&layout, converter->sws);
    return 0;
}

static int make_room(const struct rgb_converter *converter, struct rgb_picture *out)
{
    if (out->pixels)
        return 0;
    const int pixel_size = converter->is_deep ? 6 : 3;
    const ptrdiff_t stride = FFALIGN(pixel_size * (ptrdiff_t)converter->width, ROW_ALIGNMENT);
    uint8_t *const pixels = av_malloc((size_t)stride * converter->height + ROW_ALIGNMENT);
    if (!pixels)
        return AVERROR(ENOMEM);
    *out = (struct rgb_picture){pixels, converter->width, converter->height, stride, converter->is_deep};
    return 0;
}

int rgb_convert(struct rgb_converter *converter, const AVFrame *picture, struct rgb_picture *out)
{
    const struct video_layout layout = video_layout_of(picture);
    const AVFrame *known;
    int ret = refuse(converter, picture);
    if (!ret)
        ret = video_colours_apply(&converter->colours, picture, &known);
    if (ret)
        return ret;
    take_facts(converter, picture, &layout);
    ret = prepare(converter, known);
    if (!ret)
        ret = make_room(converter, out);
    if (ret)
        return ret;
    uint8_t *const planes[4] = {out->pixels};
    const int strides[4] = {(int)out->stride};
    ret = sws_scale(converter->sws, (const uint8_t *const *)known->data, known->linesize, 0,
                    known->height, planes, strides);
    return ret < 0 ? ret : 0;
}

int rgb_black(const struct rgb_converter *converter, struct rgb_picture *out)
{
    const int ret = make_room(converter, out);
    if (!ret)
        memset(out->pixels, 0, (size_t)out->stride * out->height);
    return ret;
}

const char *rgb_converter_description(const struct rgb_converter *converter, char *buffer,
                                      size_t size)
{
    const bool is_replacement = converter->replaced != AVCOL_SPC_UNSPECIFIED;
    snprintf(buffer, size, "RGB%d %dx%d, %s%s%s, %s range%s", converter->is_deep ? 48 : 24, converter->width, converter->height,
             converter->matrix == AVCOL_SPC_RGB ? "no matrix" : av_color_space_name(converter->matrix),
             is_replacement ? " for " : "", is_replacement ? av_color_space_name(converter->replaced) : "",
             converter->full_range ? "full" : "limited", converter->is_mixed ? "; later others" : "");
    return buffer;
}
