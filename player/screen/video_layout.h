/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a window must know about a picture besides its samples: size, aspect, orientation, format, colours. */
#ifndef PLAYER_VIDEO_LAYOUT_H
#define PLAYER_VIDEO_LAYOUT_H

#include <libavutil/frame.h>
#include <libswscale/swscale.h>
#include <stdbool.h>

#include "video_orientation.h"

struct video_layout {
    int width;
    int height;
    enum AVPixelFormat format;
    enum AVColorSpace colorspace; /* never unspecified; AVCOL_SPC_RGB: RGB or gray, which have no matrix */
    bool is_approximate; /* no conversion is known for the matrix of the picture; `colorspace` is the nearest one */
    bool full_range;
    AVRational sample_aspect; /* > 0; of the picture as it lies in the file, as width and height are */
    struct video_orientation orientation;
};

/*
 * Returns a picture's layout. For what the picture does not specify, it chooses the same as every player we know:
 * BT.709 above 576 lines, otherwise BT.601, and limited range, but full range for gray. RGB always has full range. Samples are square
 * also where the stated aspect makes no sense (100 to 1 and beyond). The edges of the picture are not considered (see video_crop.h).
 * The picture has a pixel format. dlex-qoe uses this function too.
 */
struct video_layout video_layout_of(const AVFrame *picture);

bool video_layouts_equal(const struct video_layout *a, const struct video_layout *b);

/*
 * Computes the size on a display with square pixels, as the orientation demands. Wide samples make the picture wider, and
 * narrow ones make it higher, so that no line is lost.
 */
void video_layout_displayed(const struct video_layout *layout, int *width, int *height);

/* Sets the matrix and the range of a converter of such pictures to full range RGB. */
void video_layout_set_colours(const struct video_layout *layout, struct SwsContext *scaler);

/*
 * Returns a converter of such pictures to full range RGB of that size and format, with the right
 * matrix. Pictures that come from video_colours_apply have their right colours then. `flags` are SWS_*. Returns NULL when no
 * conversion exists. The caller frees it (sws_freeContext).
 */
struct SwsContext *video_layout_scaler(const struct video_layout *layout, int width, int height,
                                       enum AVPixelFormat format, int flags);

#endif
