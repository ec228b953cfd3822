/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scenarios.h: what is stepped through, and what may come of it.
 *
 * A scenario leaves letters. In all of them: a, c belong to the body of the outer block, F and H to
 * its finally part and its handler; b, e to the body of the inner (or only) block, f and h to its
 * finally part and handler; p, q to a protected section; the full stop comes after everything.
 */
#ifndef STEPS_SCENARIOS_H
#define STEPS_SCENARIOS_H

#include <stdbool.h>

#include <dlex/dlex.h>

enum { OUTCOMES_MAX = 10 };

/* Outcomes in the order in which they follow each other as the expiry comes at later and later
 * instructions: each of them occurs, in this order, and nothing else does. NULL ends it. */
typedef const char *outcome_list[OUTCOMES_MAX];

struct scenario {
    const char *name;
    void (*run)(void);
    /* All that can expire expires at the instruction, and the timer sends its signal at once. */
    outcome_list timely;
    /* The same, and the signal never comes: found by what looks at the clock anyway. */
    outcome_list lost;
    bool wcet; /* all that expires is CPU time: nothing happens while only the other clock runs */
    bool first; /* the library has done nothing yet; there is no signal before there is a timer */
};

extern const struct scenario scenarios[];
extern const int scenario_count;

/* A time on CLOCK_MONOTONIC, since the start. */
#define AT(ns) (WALL_START + (ns))

dlex_declare_exception(steps_error);

/* nested.c */
void own_exception_to_the_outer_block(void);
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
