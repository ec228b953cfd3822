/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoded pictures in RGB24, all of a report converted alike: one size, one matrix, one range.
 *
 * They are those of the first picture, and what it leaves open is taken as the player takes it
 * (video_layout.h). A later picture of another size is scaled to the first one's.
 */
#ifndef QOE_RGB_CONVERTER_H
#define QOE_RGB_CONVERTER_H

#include "rmse.h"

#include <libavutil/frame.h>
#include <stdbool.h>

struct rgb_converter {
    struct SwsContext *sws;
    int width;
    int height;
    enum AVColorSpace matrix;
    bool full_range;
};

/* Zeros the converter: the first picture decides. rgb_converter_finish accepts one of zeros. */
void rgb_converter_init(struct rgb_converter *converter);
void rgb_converter_finish(struct rgb_converter *converter);

/*
 * Converts the picture. *out is zeros or an earlier result, whose memory is used again; its pixels
 * belong to the caller, who frees them with av_freep. Returns 0 or a negative AVERROR.
 */
int rgb_convert(struct rgb_converter *converter, const AVFrame *picture, struct rgb_picture *out);

/* A black picture as large as those of rgb_convert, which has been called before. *out as there. */
int rgb_black(const struct rgb_converter *converter, struct rgb_picture *out);

/* "bt709, limited range" */
const char *rgb_converter_description(const struct rgb_converter *converter, char *buffer,
                                      size_t size);

#endif
