/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a user can ask for while a file plays. Both the window (video_sink.h) and the terminal
 * (terminal.h) report requests in this form.
 *
 *   space, p        pause or go on        left, right     10 s back, forward
 *   q, ESC, close   quit                  down, up        60 s back, forward
 */
#ifndef PLAYER_INPUT_H
#define PLAYER_INPUT_H

enum input {
    INPUT_NONE,
    INPUT_QUIT,
    INPUT_PAUSE,
    INPUT_SEEK_BACK_10,
    INPUT_SEEK_FORWARD_10,
    INPUT_SEEK_BACK_60,
    INPUT_SEEK_FORWARD_60,
};

#endif
