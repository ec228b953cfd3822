/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The visible contents of a picture, and what belongs to it, in a few bytes. */
#ifndef PICTURE_HASH_H
#define PICTURE_HASH_H

#include <stdint.h>

#include <libavutil/frame.h>

enum { PICTURE_HASH_SIZE = 16 };

struct picture_hash {
    uint8_t samples[PICTURE_HASH_SIZE];   /* the visible ones of all planes */
    uint8_t side_data[PICTURE_HASH_SIZE]; /* captions, HDR metadata and so on */
};

/* Returns 0 or AVERROR(ENOMEM). */
int picture_hash(const AVFrame *frame, struct picture_hash *hash);

#endif
