/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The player's entry among the programs with rate-monotonic priorities (seed 004, section 3.1; sched's rm_registry): the film's rate,
 * and what a picture costs. A process has one entry; each film changes it. Main thread.
 *
 * A cost that is not known does not count, and there is no guarantee without a cost. So --sched=rm begins with an unknown one, and
 * --sched=rm:guaranteed begins as --sched=rm does; what is learnt while playing is entered with rate_priority_learn, and decides then
 * whether there is a guarantee. With a COST, the guarantee counts from the beginning, and the player is refused where it cannot be given;
 * a picture that takes longer raises the cost.
 */
#ifndef PLAYER_RATE_PRIORITY_H
#define PLAYER_RATE_PRIORITY_H

#include <stdbool.h>
#include <stdint.h>

/* What the user asked for with --sched=rm. */
struct rate_wish {
    bool is_asked;
    bool is_guaranteed;
    double cost_ms; /* the longest CPU time per picture; 0: it is learnt */
};

/* What is known of the CPU time for each picture. */
struct rate_cost {
    int64_t mean_ns;
    int64_t longest_ns;
};

/*
 * Enters this process with the film's rate, or changes its entry for the next film. Returns 0, or a negative errno after logging why it
 * is refused.
 */
int rate_priority_join(const struct rate_wish *wish, int64_t frame_ns);

/*
 * Enters what was learnt. If a guarantee cannot be given with it, or no longer, it logs one sentence, and the film plays on as with
 * --sched=rm. It never waits. Returns false if another program is changing the list just now: then ask again later.
 */
bool rate_priority_learn(const struct rate_wish *wish, const struct rate_cost *cost);

/* The kernel has refused the priority of the guarantee with this negative errno. The film plays on as with --sched=rm. */
void rate_priority_forgo(int error);

/* Returns the priority that the list gives; 0: none yet. */
int rate_priority_level(void);

/* Takes over the priority that the list has now: a newcomer may have moved this program. Returns true if it is another one. */
bool rate_priority_follow(void);

#endif
