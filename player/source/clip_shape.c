/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clip_shape.h"

#include <libavutil/avstring.h>
#include <libavutil/imgutils.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/mem.h>
#include <math.h>
#include <stdbool.h>

enum { EDGES = 4, EDGE_BYTES = 4 };

static void read_edges(struct clip_shape *shape, const AVCodecParameters *coded)
{
    const AVPacketSideData *const edges =
        av_packet_side_data_get(coded->coded_side_data, coded->nb_coded_side_data, AV_PKT_DATA_FRAME_CROPPING);
    if (!edges || edges->size < EDGES * EDGE_BYTES)
        return;
    uint32_t *const fields[EDGES] = {&shape->top, &shape->bottom, &shape->left, &shape->right};
    for (int i = 0; i < EDGES; i++)
        *fields[i] = AV_RL32(edges->data + i * EDGE_BYTES);
}

int stated_sizes_note(struct stated_sizes *stated, const AVFormatContext *format)
{
    stated->sizes = av_calloc(format->nb_streams, sizeof *stated->sizes);
    if (!stated->sizes && format->nb_streams > 0)
        return AVERROR(ENOMEM);
    stated->count = format->nb_streams;
    for (unsigned i = 0; i < stated->count; i++) {
        const AVCodecParameters *const coded = format->streams[i]->codecpar;
        stated->sizes[i] = (struct stated_size){coded->width, coded->height};
    }
    return 0;
}

void stated_sizes_forget(struct stated_sizes *stated)
{
    av_free(stated->sizes);
    *stated = (struct stated_sizes){0};
}

static struct clip_shape stated_shape(const AVStream *stream, const struct stated_sizes *stated)
{
    const AVCodecParameters *const coded = stream->codecpar;
    struct stated_size size = {coded->width, coded->height};
    if ((unsigned)stream->index < stated->count)
        size = stated->sizes[stream->index];
    struct clip_shape shape = {.sample_aspect = stream->sample_aspect_ratio, .width = size.width, .height = size.height};
    read_edges(&shape, coded);
    return shape;
}

/* Converts two opposite edges for pictures that have another length than the stated one. In shorter ones, a part was hidden already. */
static void fit_edges(uint32_t *first, uint32_t *last, int *length, int of_pictures)
{
    const int64_t both = (int64_t)*first + *last, left = *length - both;
    int64_t hidden = 0;
    if (of_pictures <= 0)
        return;
    if (of_pictures > *length && *length > 0)
        hidden = av_rescale(both, of_pictures, *length);
    else if (of_pictures > left)
        hidden = of_pictures - left;
    *first = both > 0 && left > 0 ? (uint32_t)av_rescale(*first, hidden, both) : 0;
    *last = both > 0 && left > 0 ? (uint32_t)hidden - *first : 0;
    *length = of_pictures;
}

static double look_of_whole(const struct clip_shape *shape, AVRational aspect)
{
    return av_q2d(aspect) * shape->width / shape->height;
}

static double look_of_shown(const struct clip_shape *shape, AVRational aspect)
{
    return av_q2d(aspect) * ((double)shape->width - shape->left - shape->right) / ((double)shape->height - shape->top - shape->bottom);
}

static bool looks_are_equal(double a, double b)
{
    static const double tolerance = 0.005; /* a stated size is rounded to whole pixels */
    return fabs(a / b - 1) < tolerance;
}

static bool is_usable(const struct clip_shape *shape)
{
    return shape->sample_aspect.num > 0 && shape->sample_aspect.den > 0 && shape->width > 0 && shape->height > 0;
}

/*
 * In Matroska, the stated size of what is shown is that of the picture without its edges, and libavformat computes the aspect of a sample
 * so. But mkvmerge writes the size of the whole picture. MP4 states the size of what is shown, or the aspect of a sample, and
 * libavformat computes the aspect as if the whole picture was shown. Both compute with a stated size of the pictures that may be wrong.
 * Such a mistake is recognised by the aspect that the pictures themselves state (or square samples): the stated size fits it.
 */
static bool is_miscomputed(const struct clip_shape *stated, const struct clip_shape *shape, bool is_matroska, AVRational of_pictures)
{
    const AVRational own = of_pictures.num > 0 && of_pictures.den > 0 ? of_pictures : (AVRational){1, 1};
    const bool has_edges = stated->left | stated->right | stated->top | stated->bottom;
    if (!is_usable(stated) || (!has_edges && stated->width == shape->width && stated->height == shape->height))
        return false;
    const double look = (is_matroska ? look_of_shown : look_of_whole)(stated, stated->sample_aspect);
    return looks_are_equal(look, look_of_shown(shape, own)) || (is_matroska && looks_are_equal(look, look_of_whole(shape, own)));
}

struct clip_shape clip_shape_of(const AVFormatContext *format, const AVStream *stream, const struct stated_sizes *stated)
{
    const bool is_matroska = av_match_name("matroska", format->iformat->name);
    const struct clip_shape header = stated_shape(stream, stated);
    struct clip_shape shape = header;
    fit_edges(&shape.left, &shape.right, &shape.width, stream->codecpar->width);
    fit_edges(&shape.top, &shape.bottom, &shape.height, stream->codecpar->height);
    if (is_miscomputed(&header, &shape, is_matroska, stream->codecpar->sample_aspect_ratio))
        shape.sample_aspect = (AVRational){0, 1};
    return shape;
}

/* Converts two opposite edges. If nothing would be left between them, both are 0. */
static void set_edges(size_t *first, size_t *last, uint32_t stated_first, uint32_t stated_last, int stated_length, int length)
{
    if (stated_length <= 0 || (int64_t)stated_first + stated_last >= stated_length)
        return;
    *first = (size_t)av_rescale(stated_first, length, stated_length);
    *last = (size_t)av_rescale(stated_last, length, stated_length);
}

void clip_shape_apply(const struct clip_shape *shape, AVFrame *picture)
{
    const AVRational aspect = shape->sample_aspect;
    if (picture->width <= 0 || picture->height <= 0)
        return; /* nothing was decoded */
    if (aspect.num > 0 && av_image_check_sar((unsigned)picture->width, (unsigned)picture->height, aspect) >= 0)
        picture->sample_aspect_ratio = aspect;
    set_edges(&picture->crop_left, &picture->crop_right, shape->left, shape->right, shape->width, picture->width);
    set_edges(&picture->crop_top, &picture->crop_bottom, shape->top, shape->bottom, shape->height, picture->height);
}
