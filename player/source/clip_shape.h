/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a file says about the shape of its pictures, besides the pictures themselves: the aspect of a sample, and which edges are
 * not to be shown. (The display matrix needs no help: libavcodec attaches it to each picture.)
 */
#ifndef PLAYER_CLIP_SHAPE_H
#define PLAYER_CLIP_SHAPE_H

#include <libavformat/avformat.h>
#include <libavutil/frame.h>

struct clip_shape {
    AVRational sample_aspect; /* as the container states it; may be useless */
    /* Samples that are not shown at the edges of a picture of this size. */
    int width, height;
    uint32_t top, bottom, left, right;
};

/* Returns what the container of the stream says. Call it before another thread reads the clip. */
struct clip_shape clip_shape_of(const AVStream *stream);

/*
 * Writes the shape into a decoded picture: its sample_aspect_ratio, and its crop_left, crop_right, crop_top and crop_bottom. The
 * container's aspect has priority over the picture's, as in av_guess_sample_aspect_ratio(), unless a picture of that aspect would be
 * less than a sample wide. Edges that would leave nothing to show are ignored. A picture of another size has its edges in
 * proportion. Its samples are not touched.
 */
void clip_shape_apply(const struct clip_shape *shape, AVFrame *picture);

#endif
