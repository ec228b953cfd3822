/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures without the edges that their file wants to hide (crop_left and the like of an AVFrame). */
#ifndef PLAYER_VIDEO_CROP_H
#define PLAYER_VIDEO_CROP_H

#include <libavutil/frame.h>

#include "video_layout.h"

/* Begins as zeros. */
struct video_crop {
    AVFrame *shown;               /* the picture that was returned last */
    struct SwsContext *converter; /* NULL, or of pictures of `layout` */
    struct video_layout layout;
};

/*
 * Returns in *shown the part of the picture that is to be shown: the picture itself if it has no such edges, or
 * if they would leave nothing; otherwise a frame that
 * is valid until the next call. It refers to the buffers of the picture; nothing is copied. Only if its edge lies within a sample
 * of chroma, the part is converted to RGB, so that the colours stay in their place.
 *
 *   -ENOTSUP     such a part cannot be converted
 *   -ENOMEM
 */
int video_crop_apply(struct video_crop *crop, const AVFrame *picture, const AVFrame **shown);

void video_crop_finish(struct video_crop *crop);

#endif
