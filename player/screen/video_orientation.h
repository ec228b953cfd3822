/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a picture lies in its file and on the screen: phones write pictures that must be turned or mirrored. */
#ifndef PLAYER_VIDEO_ORIENTATION_H
#define PLAYER_VIDEO_ORIENTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One of eight: the picture is first mirrored at its diagonal from the top left, if `transposed`, then at the other axes. */
struct video_orientation {
    bool transposed;
    bool flipped_x; /* left and right of what is shown are exchanged */
    bool flipped_y; /* top and bottom of what is shown are exchanged */
};

/*
 * Returns the orientation that is nearest to a display matrix (see libavutil/display.h): turned to the nearest of 0, 90, 180 and
 * 270 degrees. A matrix without any direction turns nothing. NULL: there is no matrix.
 */
struct video_orientation video_orientation_of(const int32_t matrix[9]);

bool video_orientations_equal(struct video_orientation a, struct video_orientation b);

/* Returns true if the picture is shown as it lies in the file. */
bool video_orientation_is_plain(struct video_orientation orientation);

/* Replaces a point of what is shown by the point of the picture that is seen there. Both are within a square of side 1. */
void video_orientation_locate(struct video_orientation orientation, float *x, float *y);

/* Pixels of 32 bits. */
struct video_pixels {
    uint32_t *pixels;
    ptrdiff_t pitch; /* in pixels */
};

/* Copies a picture into what is shown, which has this size. (A picture that is transposed has the width as its height.) */
void video_orientation_copy(struct video_orientation orientation, const struct video_pixels *shown, int width, int height,
                            const struct video_pixels *picture);

#endif
