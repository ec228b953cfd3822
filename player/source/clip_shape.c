/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clip_shape.h"

#include <libavutil/imgutils.h>
#include <libavutil/intreadwrite.h>
#include <math.h>

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

/* A stated size is rounded to whole pixels. */
static const double aspect_tolerance = 0.005;

/*
 * In Matroska, the stated size of what is shown is that of the picture without its edges, and libavformat computes the aspect so. But
 * mkvmerge writes the size of the whole picture. It is recognised by the aspect that the pictures themselves state (or square samples):
 * that size fits the whole. Then the aspect of the pictures is used.
 */
static AVRational believable_aspect(const struct clip_shape *shape, AVRational of_pictures)
{
    const int64_t width = shape->width - (int64_t)shape->left - shape->right;
    const int64_t height = shape->height - (int64_t)shape->top - shape->bottom;
    const AVRational own = of_pictures.num > 0 && of_pictures.den > 0 ? of_pictures : (AVRational){1, 1};
    if (shape->sample_aspect.num <= 0 || shape->sample_aspect.den <= 0 || width <= 0 || height <= 0)
        return shape->sample_aspect;
    const double of_whole = av_q2d(shape->sample_aspect) * (double)(width * shape->height) / (double)(height * shape->width);
    return fabs(of_whole / av_q2d(own) - 1) < aspect_tolerance ? own : shape->sample_aspect;
}

struct clip_shape clip_shape_of(const AVStream *stream)
{
    struct clip_shape shape = {
        .sample_aspect = stream->sample_aspect_ratio,
        .width = stream->codecpar->width,
        .height = stream->codecpar->height,
    };
    read_edges(&shape, stream->codecpar);
    if (shape.left | shape.right | shape.top | shape.bottom)
        shape.sample_aspect = believable_aspect(&shape, stream->codecpar->sample_aspect_ratio);
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
