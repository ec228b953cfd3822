/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rate-monotonic priority levels within a band of fixed priorities (seed 004, section 3.1): a higher rate has a higher level;
 * existing levels are shifted only if a newcomer needs a level that is in use. A task that leaves frees its level, and nothing
 * moves. Guaranteed and statistical tasks have a band each, the guaranteed ones the higher one.
 *
 * Beyond the seed: tasks with equal rates share a level; a newcomer takes the middle of a gap, so that the next one finds room
 * as well; of both directions the one that moves fewer tasks is taken; in a full band the two neighbours with the nearest rates
 * share a level.
 */
#ifndef SCHED_RM_LEVELS_H
#define SCHED_RM_LEVELS_H

#include "rm_task.h"

enum { RM_LEVEL_MAX = 99 }; /* SCHED_FIFO's highest priority */

/* The levels of one class of tasks, both ends included. */
struct rm_band {
    int lowest;
    int highest;
};

/* 20 to 49 of SCHED_FIFO, split in the middle: below the kernel's interrupt threads, which are at 50. */
extern const struct rm_band rm_band_guaranteed;
extern const struct rm_band rm_band_statistical;

/* What a newcomer caused. */
struct rm_placing {
    int moved;       /* tasks whose level has changed; they have has_moved */
    bool has_merged; /* the band is full, and different rates share a level because of it */
};

/*
 * Gives the newcomer, an index into the tasks, a level of the band. Other tasks of its class must have levels that this
 * function gave them; it may change these by 1. Tasks of the other class keep theirs. Returns 0, or -EINVAL (with nothing
 * changed) if the band is not within 1 to RM_LEVEL_MAX, or if a task of the class is outside it.
 */
int rm_levels_add(struct rm_placing *placing, const struct rm_band *band, struct rm_task *tasks, int count, int newcomer);

#endif
