/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The seed's loop (seed 000, section 8): one thread decodes a picture, waits until it is due, and shows it. A
 * scheduling policy for that thread therefore governs both.
 */
#ifndef PLAYER_SERIAL_LOOP_H
#define PLAYER_SERIAL_LOOP_H

#include "session.h"

/*
 * Plays the pictures from the present place to the end of the file, or until a request of the user or a signal. Main
 * thread.
 */
void serial_loop(struct session *session);

#endif
