/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which of the last pictures were lost, for a plan that keeps a window (window.h). Pure; times are in ns.
 *
 * A picture is lost if it was refused, abandoned or passed over, or if it came too late to be shown. What becomes of a
 * picture in the decoder or in the queue may not be known yet: it counts as lost only from loss_history_lose on. One loss_history
 * belongs to one thread.
 */
#ifndef PLAYER_LOSS_HISTORY_H
#define PLAYER_LOSS_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

/* WINDOW_MAX, and those that were decoded before them and are presented after them. */
enum { LOSS_HISTORY_MAX = 160 };

struct past_picture {
    int64_t number; /* the caller's: greater than those of all pictures that were decoded before */
    int64_t due_ns;
    bool lost;
};

/* Begins as zero. */
struct loss_history {
    struct past_picture pictures[LOSS_HISTORY_MAX]; /* in presentation order */
    int count;
};

/* At a seek: forgets everything. */
void loss_history_clear(struct loss_history *history);

/*
 * Adds a picture that was decided on. If the history is full, the one that was added first is forgotten. A jump of the time
 * stamps (TIME_STAMP_JUMP_NS) forgets all before it.
 */
void loss_history_add(struct loss_history *history, const struct past_picture *picture);

/* The picture with this number was lost after all. Nothing happens if it is not known. */
void loss_history_lose(struct loss_history *history, int64_t number);

#endif
