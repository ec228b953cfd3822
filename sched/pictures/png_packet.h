/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Packs a picture as PNG (RFC 2083), in shades of grey: a plane and, to its right, the same one at half the size. */
#ifndef PNG_PACKET_H
#define PNG_PACKET_H

#include <stddef.h>
#include <stdint.h>

struct png_planes {
    int width, height;     /* of the whole plane; even, at most STORE_SIDE_MAX */
    const uint8_t *whole;  /* no padding */
    const uint8_t *halved;
};

/* The size of the packed picture, for planes with this width; its height is theirs. */
int png_packet_width(int width);

/* Bytes that are enough for every packet. */
size_t png_packet_capacity(int width, int height);

/*
 * Writes a packet with png_packet_capacity bytes at most. number: of the picture, which is in the packet as a comment. level:
 * how hard it tries, 1 to 9. Returns the size, or -ENOMEM or -EIO.
 */
int64_t png_packet_write(uint8_t *packet, const struct png_planes *planes, int64_t number, int level);

#endif
