/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How far the user wants to decode ahead (--queue), and which limit that is for the queue of pictures. Pure. */
#ifndef PLAYER_QUEUE_WISH_H
#define PLAYER_QUEUE_WISH_H

#include "picture_queue.h"

#include <stdint.h>

enum queue_kind {
    QUEUE_NONE,     /* 0: the seed's loop, which decodes each picture when the one before it was shown */
    QUEUE_PICTURES, /* a number of pictures */
    QUEUE_SPAN,     /* a time */
    QUEUE_BYTES,    /* a size of memory */
    QUEUE_AUTO,     /* the least of 2 s, 256 MiB and an eighth of the available memory */
};

struct queue_wish {
    enum queue_kind kind;
    int64_t value; /* of QUEUE_PICTURES, of QUEUE_SPAN in ns, of QUEUE_BYTES; > 0 */
};

/* Parses "0", "auto", "50", "1.5s", "300ms", "128MiB" (or KiB, GiB). Returns 0 or -EINVAL. */
int queue_wish_parse(struct queue_wish *wish, const char *text);

enum { QUEUE_WISH_TEXT_SIZE = 32 };

/* Writes the wish in the same form and returns text. */
const char *queue_wish_text(const struct queue_wish *wish, char text[QUEUE_WISH_TEXT_SIZE]);

/* Returns the limit. available_bytes: memory that the program can still get; only QUEUE_AUTO asks for it. */
struct queue_limit queue_limit_of(const struct queue_wish *wish, int64_t available_bytes);

/* Pictures of a stream. */
struct picture_size {
    int64_t duration_ns;
    int64_t bytes;
};

/* Returns what is left of the limit for the queue, when so many pictures are decoded ahead outside of it: in codec threads. */
struct queue_limit queue_limit_less(const struct queue_limit *limit, int pictures, const struct picture_size *of_each);

/* Returns how many pictures of this size the limit allows; a size of 0 is unknown and counts as no limit. */
int64_t queue_limit_pictures(const struct queue_limit *limit, const struct picture_size *of_each);

#endif
