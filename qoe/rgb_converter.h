/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Converts decoded pictures to RGB24. All pictures of a report are converted alike: one size, one
 * matrix, one range.
 *
 * These are taken from the first picture. What it does not specify is chosen as in the player
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

/*
 * Zeros the converter: the first picture decides. rgb_converter_finish accepts a converter of
 * zeros.
 */
void rgb_converter_init(struct rgb_converter *converter);
void rgb_converter_finish(struct rgb_converter *converter);

/*
 * Converts the picture. *out is zeros or an earlier result, whose memory is used again. Its pixels
 * belong to the caller, who frees them with av_freep. Returns 0 or a negative AVERROR.
 */
int rgb_convert(struct rgb_converter *converter, const AVFrame *picture, struct rgb_picture *out);

/*
 * Makes a black picture as large as those of rgb_convert, which must have been called before. *out
 * is as for rgb_convert.
 */
int rgb_black(const struct rgb_converter *converter, struct rgb_picture *out);

/* Writes a text such as "bt709, limited range" into buffer and returns buffer. */
const char *rgb_converter_description(const struct rgb_converter *converter, char *buffer,
                                      size_t size);

#endif
