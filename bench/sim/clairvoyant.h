/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looks for the best schedule of a film. It knows all decode costs and the supply of CPU time beforehand.
 *
 * The search goes through the packets in decode order. A state is the player before a packet, with what it has lost so far.
 * From each state, the search takes every possible step. It removes a state if another one has lost no more, is no later, and
 * has at each place of its queue a picture that makes room no later. (A thorough search also compares the supply and the
 * presenter. It finds the best schedule of a small film, but has too many states for a long one.) If there are still too
 * many states, it removes those that are hardly earlier than a state that has lost less. So the result is a schedule that
 * is possible, but there may be a better one. tests/sim/test_clairvoyant.c compares it with all schedules of small films.
 *
 * The model: a picture is presented if, and only if, it comes within the tolerance. The first packets are all decoded. A
 * skip to a key picture lasts 3 s at most, as in the player. No decode is abandoned, because the search refuses such a
 * picture at once.
 */
#ifndef CLAIRVOYANT_H
#define CLAIRVOYANT_H

#include "schedule.h"

#include <stdbool.h>

struct clairvoyant_settings {
    bool least_rmse; /* looks for the least sum of RMSE; otherwise for the fewest drops */
    int states_max;  /* kept before each packet; > 0 */
    bool thorough;   /* for small films: compares states in every respect, and tries to skip from each, not only from some */
};

/*
 * Finds steps[packet] for all packets of the film. The setting must have a tolerance. Returns 0 or -ENOMEM.
 */
int clairvoyant_find(const struct playing_setting *setting, const struct clairvoyant_settings *settings, enum step *steps);

#endif
