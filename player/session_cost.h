/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Learns what a picture costs the thread that has a priority by the film's rate (--sched=rm): without a queue its decode and showing it,
 * with a queue showing it. What was learnt is entered where the other programs of this kind see it (placement_learn_cost). Without
 * --sched=rm, and in untimed playing, which has no rate, nothing is learnt. Main thread.
 */
#ifndef PLAYER_SESSION_COST_H
#define PLAYER_SESSION_COST_H

#include "session.h"

/* Call before the first picture of a part of the film: what a seek costs belongs to no picture. */
void session_cost_begin(struct session *session);

/* Call after the work for each picture. */
void session_cost_learn(struct session *session);

#endif
