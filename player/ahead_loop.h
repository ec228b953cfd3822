/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Playing with a queue: a decode thread runs ahead, and the main thread presents. See serial_loop.h for the other way. */
#ifndef PLAYER_AHEAD_LOOP_H
#define PLAYER_AHEAD_LOOP_H

#include "session.h"

/*
 * Plays the pictures from the present place to the end of the file, or until a request of the user or a signal. The
 * decode thread sleeps when the function returns. Main thread.
 */
void ahead_loop(struct session *session);

#endif
