/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Moves a session to another place in its file, with the threads that read it. Main thread. */
#ifndef PLAYER_SESSION_SEEK_H
#define PLAYER_SESSION_SEEK_H

#include "session.h"

/* Stops the threads that read the file and play its sound, if they run. */
void session_stop_reading(struct session *session);

/*
 * Goes to a place in the file (ns from its first time stamp) and starts reading there; reading is stopped meanwhile. If the
 * input cannot seek, the first call reads it up to the place. If a later seek fails, playing goes on where it was, and this
 * is logged. Returns 0, or a negative code: nothing can be played from here.
 */
int session_start_at(struct session *session, int64_t position_ns);

#endif
