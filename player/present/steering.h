/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The user's requests while a file plays (keys, signals, pause, seek), waiting, and the status line.
 *
 * Main thread. A function that waits returns early when there is a request (steering_has_request).
 */
#ifndef PLAYER_STEERING_H
#define PLAYER_STEERING_H

#include "clip.h"
#include "frame_record.h"
#include "loss_windows.h"
#include "media_clock.h"
#include "video_sink.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* What has been presented so far, for the status line and the pause. Written by presenter.c. */
struct presented {
    struct totals totals;
    struct loss_windows windows; /* in the order in which the pictures' turns came */
    int64_t last_skew_ns; /* NS_UNKNOWN: no picture was shown with a clock */
    /* Since the beginning or the last seek, a picture was shown, or none will come. A pause holds only from then on. */
    bool pictured;
};

struct steering {
    /* Set by the session; not changed while the file is open. */
    struct media_clock *clock;
    struct video_sink **screen; /* *screen NULL: there is no screen, and no key comes from it */
    const struct clip *clip;    /* only its facts are read: start, duration, whether it can seek */
    const struct presented *presented;
    const volatile sig_atomic_t *signal_seen;
    bool has_video;

    bool quit;
    bool seek;
    int64_t seek_position_ns;
    int64_t status_ns; /* when the status line was last drawn */
    int64_t polled_ns; /* when keys were last polled */
};

/*
 * Handles keys, window events and the status line. Never blocks, with one exception: when the player is paused and a
 * picture of this place is on the screen, it returns only when the player goes on or there is a request.
 */
void steering_poll(struct steering *steering);

/* Waits until the picture of this PTS is due. */
void steering_wait_until(struct steering *steering, int64_t pts_ns);

/* Polls, and sleeps for wait_ns, at most one step of 20 ms. */
void steering_nap(struct steering *steering, int64_t wait_ns);

/* Waits until the last sample has been heard. */
void steering_wait_for_sound(struct steering *steering);

/* Returns whether the segment is over because the user quit or seeks, or because a signal came. */
bool steering_has_request(const struct steering *steering);

/*
 * Takes the seek that the user asked for: sets *position_ns to its target and clears the request. Returns false when
 * there is no seek, or when the user quit or a signal came, which have priority.
 */
bool steering_take_seek(struct steering *steering, int64_t *position_ns);

/* Returns whether the user quit. */
bool steering_has_quit(const struct steering *steering);

/* Prints the last status line, with a line end. */
void steering_finish(struct steering *steering);

#endif
