/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A schedule: what is done with each packet, decided beforehand. It is played with playing_setting.tolerance_ns >= 0, so
 * that a picture is presented if, and only if, it comes in time.
 */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include "playing.h"

#include <stdbool.h>

enum step {
    STEP_DECODE,
    STEP_REFUSE, /* a droppable picture */
    STEP_SKIP,   /* to the next key picture, which is 3 s away at most: the packets up to it are passed over, and its leading pictures too */
};

/* As in the player, nothing is given up among the first packets. */
enum { PACKETS_KEPT = 8 };

/* Returns the packet of the next key picture behind this packet, or the film's count. */
int schedule_next_key(const struct sim_film *film, int packet);

/* Returns whether the step is possible for the packet. */
bool schedule_allows(const struct sim_film *film, int packet, enum step step);

/*
 * Takes the step with the packet, which must be the next one. Returns the packet that comes next: for STEP_SKIP that is the
 * one behind the key picture and its leading pictures.
 */
int schedule_take_step(struct playing *playing, int packet, enum step step);

/*
 * Plays a whole schedule: steps[packet], where the packets that a skip jumps over do not count. rows: see struct playing.
 * Returns the state at the end.
 */
struct playing schedule_play(const struct playing_setting *setting, const enum step *steps, struct frame_record *rows);

#endif
