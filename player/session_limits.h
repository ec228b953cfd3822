/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Follows the limits of CPU time (limits_watch.h): gives them to the decode stage with the clock, and keeps for the record which ones
 * were seen. Main thread.
 */
#ifndef PLAYER_SESSION_LIMITS_H
#define PLAYER_SESSION_LIMITS_H

#include "session.h"

/* Starts the watch. If that fails, a note says so, and the limits stay those of the beginning. */
void session_limits_watch(struct session *session);

/* Call when the threads have their places, before each part of the film: looks at the limits at once. */
void session_limits_begin(struct session *session);

/* Call often while playing: cheap when nothing has changed. */
void session_limits_follow(struct session *session);

#endif
