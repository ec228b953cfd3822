/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which pictures may differ from those of the file although they were decoded whole, because pictures to which they refer were
 * degraded. The functions are pure.
 *
 * The difference ends at the next key picture. Pictures that follow a key picture in decode order and are presented before it
 * (leading pictures of an open group) may refer to pictures before it, so they may differ as well.
 */
#ifndef PLAYER_DRIFT_H
#define PLAYER_DRIFT_H

#include "upcoming.h"

#include <stdbool.h>
#include <stdint.h>

/* Zero: nothing was degraded. */
struct drift {
    bool goes_on;       /* a reference behind the last key picture was degraded */
    bool leads;         /* pictures with a PTS before this one refer to pictures before the last key picture, which drift: */
    int64_t key_pts_ns;
};

/* For a seek: the next picture is a key picture, and none before it is referred to. */
void drift_restart(struct drift *drift);

/*
 * Takes the next packet in decode order. degraded: its picture is decoded without the loop filter. Returns whether the picture
 * may differ because of others.
 */
bool drift_add(struct drift *drift, enum picture_class picture_class, int64_t pts_ns, bool degraded);

#endif
