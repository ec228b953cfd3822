/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The visible contents of a picture, and what belongs to it, in a few bytes. */
#ifndef PICTURE_HASH_H
#define PICTURE_HASH_H

#include <stdint.h>

#include <libavutil/frame.h>

enum { PICTURE_HASH_SIZE = 16 };

/* Hashes the visible samples of all planes, and the side data (captions, HDR metadata). Returns 0 or AVERROR(ENOMEM). */
int picture_hash(const AVFrame *frame, uint8_t hash[PICTURE_HASH_SIZE]);

#endif
