/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Playing one file: packets from the feeder go through the decode block, pictures wait for the clock and go to the screen.
 *
 * Everything here runs on the main thread, as in the seed's player. A scheduling policy given to that thread therefore
 * governs decoding and presenting (seed 000, 8).
 */
#ifndef PLAYER_PLAYBACK_H
#define PLAYER_PLAYBACK_H

#include "playback_setup.h"

#include <stdbool.h>

enum playback_end {
    PLAYBACK_END,        /* to the end of the file, or of --length */
    PLAYBACK_QUIT,       /* the user quit */
    PLAYBACK_SIGNAL,     /* *signal_seen was set */
    PLAYBACK_UNPLAYABLE, /* nothing in the file could be played; the reason was logged */
    PLAYBACK_NO_DEVICE,  /* the requested screen, sound or queue is not available; the reason was logged */
    PLAYBACK_NOT_PLACED, /* the requested scheduling policy or CPU is not available; the reason was logged */
    PLAYBACK_DECODING_LOST, /* as far as there was memory for decoding; that was logged */
    PLAYBACK_READING_LOST, /* as far as the file could be read; the reason was logged */
    PLAYBACK_SOUND_LOST, /* there was only sound, and its device went away; this was logged */
};

struct playback_result {
    enum playback_end end;
    bool rest_lost;   /* not all of the file could be read or decoded, also if the user quit then */
    bool record_lost; /* a record was wanted and could not be written; the reason was logged */
};

struct playback_result playback_run(const struct playback_setup *setup);

#endif
