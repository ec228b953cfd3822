/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "video_orientation.h"

#include <inttypes.h>

/* The matrix takes (x, y) of the picture to (m[0] x + m[3] y, m[1] x + m[4] y) of what is shown. */
struct video_orientation video_orientation_of(const int32_t m[9])
{
    if (!m)
        return (struct video_orientation){0};
    const bool transposed = imaxabs(m[1]) + imaxabs(m[3]) > imaxabs(m[0]) + imaxabs(m[4]);
    return (struct video_orientation){
        .transposed = transposed,
        .flipped_x = (transposed ? m[3] : m[0]) < 0,
        .flipped_y = (transposed ? m[1] : m[4]) < 0,
    };
}

bool video_orientations_equal(struct video_orientation a, struct video_orientation b)
{
    return a.transposed == b.transposed && a.flipped_x == b.flipped_x && a.flipped_y == b.flipped_y;
}

bool video_orientation_is_plain(struct video_orientation orientation)
{
    return video_orientations_equal(orientation, (struct video_orientation){0});
}

void video_orientation_locate(struct video_orientation orientation, float *x, float *y)
{
    const float across = orientation.flipped_x ? 1 - *x : *x;
    const float down = orientation.flipped_y ? 1 - *y : *y;
    *x = orientation.transposed ? down : across;
    *y = orientation.transposed ? across : down;
}

void video_orientation_copy(struct video_orientation orientation, const struct video_pixels *shown, int width, int height,
                            const struct video_pixels *picture)
{
    /* How far a step in what is shown goes in the picture. */
    const ptrdiff_t across = (orientation.transposed ? picture->pitch : 1) * (orientation.flipped_x ? -1 : 1);
    const ptrdiff_t down = (orientation.transposed ? 1 : picture->pitch) * (orientation.flipped_y ? -1 : 1);
    const uint32_t *const corner = picture->pixels - (orientation.flipped_x ? across * (width - 1) : 0) -
                                   (orientation.flipped_y ? down * (height - 1) : 0);
    /*
     * Drawing 1920x1080 took 0.4 ms, and with this copy 1.0 to 1.3 ms mirrored and 1.8 ms transposed (EPYC, 1 MiB of second level cache
     * for each core). Copying in squares of 8 to 64 pixels was not faster.
     */
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            shown->pixels[y * shown->pitch + x] = corner[y * down + x * across];
}
