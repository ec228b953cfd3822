/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scenarios.h: the scenarios that are stepped through, and their possible outcomes.
 *
 * A scenario writes letters to a log. They mean the same in all scenarios. a and c: the body of the outer block. F and H:
 * its finally part and its handler. b and e: the body of the inner (or only) block. f and h: its finally part and its
 * handler. p and q: a protected section. The full stop comes after all blocks.
 */
#ifndef STEPS_SCENARIOS_H
#define STEPS_SCENARIOS_H

#include <stdbool.h>

#include <dlex/dlex.h>

enum { OUTCOMES_MAX = 10 };

/* The outcomes, in the order in which they occur as the expiry comes at later and later instructions. Each of them must
 * occur, in this order, and no others. NULL ends the list. */
typedef const char *outcome_list[OUTCOMES_MAX];

struct scenario {
    const char *name;
    void (*run)(void);
    /* All constraints that can expire expire at the instruction, and the timer sends its signal at once. */
    outcome_list timely;
    /* The same, but the signal never comes. The expiry is found where the clock is read anyway. */
    outcome_list lost;
    bool wcet; /* only CPU time expires: nothing happens while only the other clock runs */
    bool trigger; /* instead of a constraint that expires, the trigger of the world is fired */
    bool first; /* the library is not set up yet: without a timer there is no signal */
};

extern const struct scenario scenarios[];
extern const int scenario_count;

/* A time on CLOCK_MONOTONIC, given as the time since the start. */
#define AT(ns) (WALL_START + (ns))

dlex_declare_exception(steps_error);

/* nested.c */
void own_exception_to_the_outer_block(void);
void trigger_outside(void);
void trigger_of_block_and_island(void);
void outer_deadline_expires(void);
void inner_deadline_expires(void);
void both_deadlines_expire(void);
void wcet_outside_expires(void);
void wcet_inside_expires(void);
void deadline_and_wcet_inside_expire(void);
void block_without_constraint_inside(void);
void outer_expires_while_inner_is_handled(void);
void wcet_expires_while_a_section_ends(void);
void cooperative_in_a_deadline(void);
void island(void);
void return_through_two_blocks(void);
void rethrow_to_the_outer_block(void);

#endif
