/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the user and the clock say while a file plays: keys, signals, pause, seek, waiting, the status line.
 *
 * Main thread. A function that waits returns early when something was asked for (steering_is_asked).
 */
#ifndef PLAYER_STEERING_H
#define PLAYER_STEERING_H

#include "playback.h"
#include "session.h"

#include <stdbool.h>
#include <stdint.h>

struct steering {
    struct session *session;
    bool quit;
    bool seek;
    int64_t seek_position_ns;
    bool sound_lost; /* its failure was told */
    int64_t status_ns; /* when the status line was last drawn */
    int64_t polled_ns; /* when keys were last asked for */
};

void steering_init(struct steering *steering, struct session *session);

/* Lets the clock and the sound run, once a segment. */
void steering_start_clock(struct steering *steering);

/* Sets the clock by what is heard now. */
void steering_observe_sound(struct steering *steering);

/*
 * Keys, window events and the status line. Never blocks, except that a paused player stays in here until it goes on, once
 * a picture of this place is up.
 */
void steering_poll(struct steering *steering);

/* Waits until the picture of this PTS is due. */
void steering_wait_until(struct steering *steering, int64_t pts_ns);

/* Waits until the last sample has been heard. */
void steering_wait_for_sound(struct steering *steering);

/* Whether the segment is over: the user quit or seeks, or a signal came. */
bool steering_is_asked(const struct steering *steering);

/*
 * Takes the seek that the user asked for: *position_ns is its target, and the request is gone. Returns false when there
 * is none, or when the user quit or a signal came, which count more.
 */
bool steering_take_seek(struct steering *steering, int64_t *position_ns);

enum playback_end steering_end(const struct steering *steering);

/* The last status line, with a line end. */
void steering_finish(struct steering *steering);

#endif
