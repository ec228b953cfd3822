/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is known about a packet before it is decoded. */
#ifndef PLAYER_UPCOMING_H
#define PLAYER_UPCOMING_H

#include <stdint.h>

/* Pictures of one class cost about as much as each other, for their size. */
enum picture_class {
    CLASS_KEY,         /* decoding can begin here */
    CLASS_REFERENCE,   /* others refer to it; presented after the packet before it */
    CLASS_REFERENCE_B, /* others refer to it; presented before the packet before it, as in a pyramid of B pictures */
    CLASS_DROPPABLE,   /* no other picture refers to it */
    PICTURE_CLASSES,
};

struct upcoming {
    int64_t due_ns; /* when its picture is due, CLOCK_MONOTONIC */
    int64_t size_bytes;
    enum picture_class picture_class;
};

#endif
