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
    AVRational sample_aspect; /* as the container states it; may be useless, then that of a picture counts */
    /* Samples that are not shown at the edges of a picture of this size. */
    int width, height;
    uint32_t top, bottom, left, right;
};

struct stated_size {
    int width, height;
};

/*
 * The sizes that a container states for its streams. avformat_find_stream_info() replaces them by those of the decoder's pictures.
 * Begins as zeros.
 */
struct stated_sizes {
    unsigned count;
    struct stated_size *sizes;
};

/* Notes the sizes. Call it between avformat_open_input() and avformat_find_stream_info(). Returns 0 or AVERROR(ENOMEM). */
int stated_sizes_note(struct stated_sizes *stated, const AVFormatContext *format);

void stated_sizes_forget(struct stated_sizes *stated);

/*
 * Returns the shape of the pictures of a stream, after avformat_find_stream_info(). Call it before another thread reads the clip. It
 * differs from what the container states in two cases. The decoder may have hidden edges itself: then only the rest of the container's
 * edges is hidden, so that as much is left as the container states. And the container may state how all that is shown looks, from which
 * libavformat computes the aspect of a sample with another number of samples: then the aspect of the pictures counts.
 */
struct clip_shape clip_shape_of(const AVFormatContext *format, const AVStream *stream, const struct stated_sizes *stated);

/*
 * Writes the shape into a decoded picture: its sample_aspect_ratio, and its crop_left, crop_right, crop_top and crop_bottom. The
 * container's aspect has priority over the picture's, as in av_guess_sample_aspect_ratio(), unless a picture of that aspect would be
 * less than a sample wide. Edges that would leave nothing to show are ignored. A picture of another size has its edges in
 * proportion. Its samples are not touched.
 */
void clip_shape_apply(const struct clip_shape *shape, AVFrame *picture);

#endif
