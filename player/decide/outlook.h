/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What rule plan knows when a packet is about to be decoded. Plain data; times are in ns. */
#ifndef PLAYER_OUTLOOK_H
#define PLAYER_OUTLOOK_H

#include "decoder_model.h"
#include "frame_duration.h"
#include "loss_history.h"
#include "times.h"
#include "upcoming.h"

#include <stdint.h>

struct outlook {
    int64_t now_ns;
    struct frame_duration frame_duration;
    /* Pictures that were taken from the packets ahead. */
    int64_t room;           /* decoded pictures that may wait; 0: each is presented before the next packet is decoded */
    const struct times *to_present;      /* when those are due that will be presented: decoded, or still in the decoder */
    int waiting_with_markers;            /* decoded ones that wait to be presented, and those that were given up */
    const struct decoder_model *decoder; /* all that are in the decoder */
    const struct loss_history *past;     /* which of the last ones were lost, for a window; NULL: none is known */
    /* Packets. */
    const struct upcoming *ahead; /* in decode order; the first is the one that is decided on */
    int count;                    /* > 0 */
};

#endif
