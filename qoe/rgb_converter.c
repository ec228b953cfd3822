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

enum {
    /* swscale's vector code reads and writes whole blocks. */
    ROW_ALIGNMENT = 64,
    UNIT = 1 << 16,
};

void rgb_converter_init(struct rgb_converter *converter)
{
    *converter = (struct rgb_converter){0};
}

void rgb_converter_finish(struct rgb_converter *converter)
{
    sws_freeContext(converter->sws);
    rgb_converter_init(converter);
}

static void take_facts(struct rgb_converter *converter, const AVFrame *picture)
{
    const struct video_layout layout = video_layout_of(picture);
    converter->width = layout.width;
    converter->height = layout.height;
    converter->matrix = layout.colorspace;
    converter->full_range = layout.full_range;
}

static int prepare(struct rgb_converter *converter, const AVFrame *picture)
{
    if (!converter->width)
        take_facts(converter, picture);
    /* BITEXACT: the same numbers on every machine, whichever vector unit its processor has. */
    const int how = SWS_BILINEAR | SWS_ACCURATE_RND | SWS_BITEXACT;
    converter->sws = sws_getCachedContext(converter->sws, picture->width, picture->height,
                                          picture->format, converter->width, converter->height,
                                          AV_PIX_FMT_RGB24, how, NULL, NULL, NULL);
    if (!converter->sws)
        return AVERROR(ENOMEM);
    const int *const coefficients = sws_getCoefficients(converter->matrix);
    /* Fails for pictures that are RGB already, which need no matrix. */
    sws_setColorspaceDetails(converter->sws, coefficients, converter->full_range, coefficients, 1,
                             0, UNIT, UNIT);
    return 0;
}

static int make_room(const struct rgb_converter *converter, struct rgb_picture *out)
{
    if (out->pixels)
        return 0;
    const ptrdiff_t stride = FFALIGN(3 * (ptrdiff_t)converter->width, ROW_ALIGNMENT);
    uint8_t *const pixels = av_malloc((size_t)stride * converter->height + ROW_ALIGNMENT);
    if (!pixels)
        return AVERROR(ENOMEM);
    *out = (struct rgb_picture){pixels, converter->width, converter->height, stride};
    return 0;
}

int rgb_convert(struct rgb_converter *converter, const AVFrame *picture, struct rgb_picture *out)
{
    int ret = prepare(converter, picture);
    if (!ret)
        ret = make_room(converter, out);
    if (ret)
        return ret;
    uint8_t *const planes[4] = {out->pixels};
    const int strides[4] = {(int)out->stride};
    ret = sws_scale(converter->sws, (const uint8_t *const *)picture->data, picture->linesize, 0,
                    picture->height, planes, strides);
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
    snprintf(buffer, size, "%s, %s range", av_color_space_name(converter->matrix),
             converter->full_range ? "full" : "limited");
    return buffer;
}
