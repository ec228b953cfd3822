/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Converts decoded pictures to RGB, of 8 bits, or of 16 bits if the first picture has more than 8. All pictures of a report have
 * the size and the depth of the first one. A later picture of another size is scaled to the first one's.
 *
 * Each picture's own matrix and range count. What it does not specify is chosen as in the player (video_layout.h).
 */
#ifndef QOE_RGB_CONVERTER_H
#define QOE_RGB_CONVERTER_H

#include "rmse.h"
#include "video_colours.h"

#include <libavutil/frame.h>
#include <stdbool.h>

struct rgb_converter {
    struct video_colours colours;
    struct SwsContext *sws;
    int width;
    int height;
    bool is_deep;            /* the pictures have 16 bits, otherwise 8 */
    enum AVColorSpace matrix; /* of the first picture; AVCOL_SPC_RGB: RGB or gray, which have none */
    enum AVColorSpace replaced; /* the first picture's own matrix, of which no conversion is known; AVCOL_SPC_UNSPECIFIED: none */
    bool full_range;
    bool is_mixed;           /* a later picture had another matrix or range */
    char refusal[120];       /* why a picture was refused, as a clause ("its pixel format …"); empty: none was */
};

/*
 * Zeros the converter: the first picture decides. rgb_converter_finish accepts a converter of
 * zeros.
 */
void rgb_converter_init(struct rgb_converter *converter);
void rgb_converter_finish(struct rgb_converter *converter);

/*
 * Converts the picture. *out is zeros or an earlier result, whose memory is used again. Its pixels
 * belong to the caller, who frees them with av_freep. Returns 0 or a negative AVERROR. AVERROR(ENOTSUP): no conversion is known for
 * the picture's pixel format; `refusal` says so. If none is known for its matrix, the nearest one is used, as in the player, and the
 * description names both.
 */
int rgb_convert(struct rgb_converter *converter, const AVFrame *picture, struct rgb_picture *out);

/*
 * Makes a black picture as large as those of rgb_convert, which must have been called before. *out
 * is as for rgb_convert.
 */
int rgb_black(const struct rgb_converter *converter, struct rgb_picture *out);

/* Writes a text such as "RGB24 640x360, bt709, limited range" or "…, bt2020nc for ictcp, …" into buffer and returns buffer. */
const char *rgb_converter_description(const struct rgb_converter *converter, char *buffer,
                                      size_t size);

#endif
