/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pictures that were withheld from the decoder (AV1), until it is their turn to come out. The decoder may hold back earlier
 * pictures, so each waits for those. Plain data.
 */
#ifndef PLAYER_WITHHELD_H
#define PLAYER_WITHHELD_H

#include <libavcodec/packet.h>
#include <libavutil/frame.h>
#include <stdbool.h>
#include <stdint.h>

enum { WITHHELD_MAX = 256 };

/* Zero: there is none. */
struct withheld {
    struct withheld_picture {
        int64_t number; /* of its job */
        int64_t pts;
        int64_t duration;
    } pictures[WITHHELD_MAX];
    int first;
    int count;
};

/* The picture of this packet was withheld. Jobs have ascending numbers. If it is full, the first one is lost. */
void withheld_add(struct withheld *withheld, const AVPacket *packet, int64_t number);

/* Returns whether one waits that comes before the picture of this job. INT64_MAX: whether one waits at all. */
bool withheld_comes_before(const struct withheld *withheld, int64_t number);

/* Returns whether the first one must come out, wherever the decoder is: only a strange stream has so many in a row. */
bool withheld_is_full(const struct withheld *withheld);

/*
 * Removes the first one, which must exist, and makes frame, which must be blank, a placeholder of it: droppable, abandoned,
 * without data. Returns the number of its job.
 */
int64_t withheld_take(struct withheld *withheld, AVFrame *frame);

/* For a seek. */
void withheld_clear(struct withheld *withheld);

#endif
