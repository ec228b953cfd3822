/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a window has to know of a picture besides its samples: size, aspect, format, colours. */
#ifndef PLAYER_VIDEO_LAYOUT_H
#define PLAYER_VIDEO_LAYOUT_H

#include <libavutil/frame.h>
#include <libswscale/swscale.h>
#include <stdbool.h>

struct video_layout {
    int width;
    int height;
    enum AVPixelFormat format;
    enum AVColorSpace colorspace; /* never unspecified */
    bool full_range;
    AVRational sample_aspect; /* > 0 */
};

/*
 * As every player we know answers what the picture leaves open: untagged it is BT.709 above 576 lines, else BT.601, and
 * its range is limited. dlex-qoe asks here as well.
 */
struct video_layout video_layout_of(const AVFrame *picture);

bool video_layouts_equal(const struct video_layout *a, const struct video_layout *b);

/*
 * The size on a display of square pixels: wide samples widen, narrow ones heighten, so that no line
 * is lost.
 */
void video_layout_displayed(const struct video_layout *layout, int *width, int *height);

/*
 * A converter of such pictures to full range RGB of that size and format, by the right matrix;
 * `flags` are SWS_*. NULL when there is none. The caller frees it (sws_freeContext).
 */
struct SwsContext *video_layout_scaler(const struct video_layout *layout, int width, int height,
                                       enum AVPixelFormat format, int flags);

#endif
