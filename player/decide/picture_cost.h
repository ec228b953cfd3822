/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a picture costs the thread that has a priority by the film's rate (--sched=rm), learnt while playing: the CPU time from one
 * picture to the next, with everything that this thread does for it. It is claimed where the rates and costs of all such programs are
 * compared: the mean, which counts for the whole CPU, and the longest, which counts for the deadlines. The functions are pure; times are
 * in ns.
 *
 * Nothing is claimed before 50 pictures. The first eight never count: the window is opened, and memory is seen for the first time. The
 * longest is claimed with a fifth more, because a film has not shown its most costly picture yet, and so that few pictures exceed it.
 */
#ifndef PLAYER_PICTURE_COST_H
#define PLAYER_PICTURE_COST_H

#include <stdbool.h>
#include <stdint.h>

enum { PICTURE_COST_LEFT_OUT = 8, PICTURE_COST_KNOWN = 50 };

struct picture_cost_claim {
    int64_t mean_ns;
    int64_t longest_ns;
};

/* Zeroed at the beginning of a film. */
struct picture_cost {
    int64_t pictures;
    double mean_ns;      /* of about the last 64 */
    int64_t longest_ns;
    struct picture_cost_claim claimed; /* 0: nothing yet */
    int64_t claimed_at;  /* the number of pictures then */
};

/* A picture has taken this CPU time. */
void picture_cost_add(struct picture_cost *cost, int64_t cpu_ns);

/*
 * Returns whether something is to be claimed now, and sets *claim: what is known first, a longest that exceeds the one claimed, or, after
 * 50 further pictures, a mean that differs by a fifth.
 */
bool picture_cost_is_due(const struct picture_cost *cost, struct picture_cost_claim *claim);

/* This was claimed. */
void picture_cost_claimed(struct picture_cost *cost, const struct picture_cost_claim *claim);

#endif
