/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pictures whose colours swscale would get wrong, as RGB. swscale 7.1 reads YCgCo as if it were BT.601, and does not use the range
 * of 8-bit gray. The window and dlex-qoe convert their pictures here first.
 *
 * In limited range, the chroma of YCgCo has as many steps as that of other matrices (224 of 256), as mpv's renderer has it. By the
 * letter of H.273 it has as many as luma (219), which zimg follows.
 */
#ifndef PLAYER_VIDEO_COLOURS_H
#define PLAYER_VIDEO_COLOURS_H

#include <libavutil/frame.h>
#include <libswscale/swscale.h>

/* Begins as zeros. */
struct video_colours {
    AVFrame *known;                /* the picture that was returned last */
    AVFrame *whole;                /* the same with all samples of chroma, before it became RGB */
    struct SwsContext *upsampler;
};

/*
 * Returns in *known a picture that swscale converts rightly: the picture itself, or one of the same size and with the same other
 * properties in planar RGB of 8 bits, or of 16 bits if the picture has more than 8. It is valid until the next call. Returns 0,
 * -ENOTSUP for a pixel format that cannot be converted, or -ENOMEM.
 */
int video_colours_apply(struct video_colours *colours, const AVFrame *picture, const AVFrame **known);

void video_colours_finish(struct video_colours *colours);

#endif
