/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scenarios.h"

#include <signal.h>

#include <dlex/dlex.h>

#include "world.h"

dlex_define_exception(steps_error) dlex_extends(dlex_exception);

static void deadline(void)
{
    dlex_try_within_abs(AT(NEAR)) {
        mark('b');
        mark('e');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        mark('h');
    } dlex_end
    mark('.');
}

static void relative_deadline(void)
{
    dlex_try_within_rel(NEAR) {
        mark('b');
        mark('e');
    } dlex_handle dlex_when(dlex_timing_violation) {
        mark('h');
    } dlex_end
    mark('.');
}

static void wcet(void)
{
    dlex_try_within_wcet(NEAR) {
        mark('b');
        mark('e');
    } dlex_handle dlex_when(dlex_wcet_violation) {
        mark('h');
    } dlex_end
    mark('.');
}

static void protected_section(void)
{
    dlex_try_within_abs(AT(NEAR)) {
        mark('b');
        dlex_try_within_disable();
        mark('p');
        dlex_try_within_disable();
        dlex_try_within_enable();
        mark('q');
        dlex_try_within_enable();
        mark('e');
    } dlex_finally {
        mark('f');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        mark('h');
    } dlex_end
    mark('.');
}

static void own_exception(void)
{
    dlex_try_within_abs(AT(NEAR)) {
        mark('b');
        dlex_throw(steps_error);
    } dlex_finally {
        mark('f');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        mark('h');
    } dlex_when(steps_error) {
        mark('x');
    } dlex_end
    mark('.');
}

static void cooperative(void)
{
    dlex_try_within_abs_cooperative(AT(NEAR)) {
        mark('b');
        dlex_checkpoint();
        mark('p');
        dlex_checkpoint();
        mark('e');
    } dlex_finally {
        mark('f');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        mark('h');
    } dlex_end
    mark('.');
}

static void trigger(void)
{
    dlex_try {
        mark('a');
        dlex_trigger_bind(&world.trigger);
        mark('b');
    } dlex_finally {
        mark('f');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        mark('h');
    } dlex_end
    mark('.');
}

static void trigger_of_a_cooperative_block(void)
{
    dlex_try_within_abs_cooperative(AT(FAR)) {
        dlex_trigger_bind(&world.trigger);
        mark('b');
        dlex_checkpoint();
        mark('p');
        dlex_checkpoint();
        mark('e');
    } dlex_finally {
        mark('f');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        mark('h');
    } dlex_end
    mark('.');
}

static void break_out(void)
{
    for (;;) {
        dlex_try_within_abs(AT(NEAR)) {
            mark('b');
            break;
        } dlex_handle dlex_when(dlex_deadline_violation) {
            mark('h');
        } dlex_end
        break;
    }
    mark('.');
}

static void two_blocks_in_a_row(void)
{
    dlex_try_within_abs(AT(NEAR)) {
        mark('a');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        mark('H');
    } dlex_end
    dlex_try_within_abs(AT(NEAR)) {
        mark('b');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        mark('h');
    } dlex_end
    mark('.');
}

/* The body calls dlex_idle, as before a sleep. The deadline stays in force. */
static void idle_in_a_body(void)
{
    dlex_try_within_abs(AT(NEAR)) {
        mark('b');
        dlex_idle();
        mark('e');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        mark('h');
    } dlex_end
    mark('.');
}

static void release(void *unused)
{
    (void)unused;
    mark('r');
}

static void scoped_resource(void)
{
    dlex_try_within_abs(AT(NEAR)) {
        mark('b');
        dlex_scoped_defer(release, NULL);
        mark('e');
    } dlex_finally {
        mark('f');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        mark('h');
    } dlex_end
    mark('.');
}

/* Each call of mark checks the signal mask. */
static void signal_mask(void)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR2);
    dlex_try_within_abs(AT(NEAR)) {
        mark('b');
        dlex_sigmask(SIG_BLOCK, &one, NULL);
        dlex_sigmask(SIG_UNBLOCK, &one, NULL);
        mark('e');
    } dlex_finally {
        mark('f');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        mark('h');
    } dlex_end
    mark('.');
}

/*
 * The reasons for these outcomes.
 *
 * Timely. If a constraint expires before its body begins, the body does not run. If it expires in the body, the body is
 * left there. Then each block that is left runs its finally part once, innermost first, and only the outermost block that
 * has expired runs its handler. A protected section or a finally part that has begun runs to its end first. If a
 * constraint expires after its body has ended, nothing changes. Relative deadlines and WCETs begin when the block is
 * opened, so time that passed before does not count.
 * A trigger that is fired before its block is bound lets the body run until it binds.
 *
 * Lost. Only three places read the clock: the opening of a block, a checkpoint, and the end of a section that noticed an
 * expiry. A body that reaches none of them goes on. With two constraints, the signal of the earlier one may come before
 * the loss; then both outcomes are in the list.
 */
#define TIMELY(...) .timely = { __VA_ARGS__ }
#define LOST(...)   .lost = { __VA_ARGS__ }

const struct scenario scenarios[] = {
    { "deadline", deadline, TIMELY("h.", "bh.", "beh.", "be."),
      LOST("h.", "be.") },
    { "relative deadline", relative_deadline, TIMELY("be.", "h.", "bh.", "beh.", "be."),
      LOST("be.") },
    { "WCET", wcet, TIMELY("be.", "h.", "bh.", "beh.", "be."),
      LOST("be."), .wcet = true },
    { "protected section", protected_section,
      TIMELY("fh.", "bfh.", "bpqfh.", "bpqefh.", "bpqef."),
      LOST("fh.", "bpqef.") },
    { "exception of the body", own_exception, TIMELY("fh.", "bfh.", "bfx."),
      LOST("fh.", "bfx.") },
    { "exception of the inner body", own_exception_to_the_outer_block,
      TIMELY("FH.", "aFH.", "afFH.", "abfFH.", "abfFx."),
      LOST("FH.", "afFH.", "abfFx.") },
    { "outer deadline", outer_deadline_expires,
      TIMELY("FH.", "aFH.", "afFH.", "abfFH.", "abefFH.", "abefcFH.", "abefcF."),
      LOST("FH.", "afFH.", "abefcF.") },
    { "inner deadline", inner_deadline_expires,
      TIMELY("afhcF.", "abfhcF.", "abefhcF.", "abefcF."),
      LOST("afhcF.", "abefcF.") },
    { "both deadlines", both_deadlines_expire,
      TIMELY("FH.", "aFH.", "afFH.", "abfFH.", "abefFH.", "abefcFH.", "abefcF."),
      LOST("FH.", "afFH.", "abefcF.") },
    { "WCET outside", wcet_outside_expires,
      TIMELY("abefcF.", "FH.", "aFH.", "afFH.", "abfFH.", "abefFH.", "abefcFH.", "abefcF."),
      LOST("abefcF.", "afFH.", "abefcF."),
      .wcet = true },
    { "WCET inside", wcet_inside_expires,
      TIMELY("abefcF.", "afhcF.", "abfhcF.", "abefhcF.", "abefcF."),
      LOST("abefcF."), .wcet = true },
    { "deadline and WCET inside", deadline_and_wcet_inside_expire,
      TIMELY("FH.", "aFH.", "afFH.", "abfFH.", "abefFH.", "abefcFH.", "abefcF."),
      LOST("FH.", "afFH.", "abefcF.") },
    { "block without constraint inside", block_without_constraint_inside,
      TIMELY("FH.", "aFH.", "afFH.", "abfFH.", "abefFH.", "abefcFH.", "abefcF."),
      LOST("FH.", "abefcF.") },
    { "outer while the inner is handled", outer_expires_while_inner_is_handled,
      TIMELY("FH.", "aFH.", "afFH.", "abfFH.", "abfhFH.", "abfhcFH.", "abfhcF."),
      LOST("FH.", "afFH.", "abefcF.", "abfFH.", "abfhcF.") },
    { "WCET while a section ends", wcet_expires_while_a_section_ends,
      TIMELY("apqfhcF.", "FH.", "aFH.", "afFH.", "apqfFH.", "apqfhFH.", "apqfhcFH.",
             "apqfhcF."),
      LOST("apqefcF.", "afFH.", "apqefcF.", "apqfFH.", "apqfhcF."),
      .wcet = true },
    { "cooperative", cooperative, TIMELY("fh.", "bfh.", "bpfh.", "bpef."),
      LOST("fh.", "bfh.", "bpfh.", "bpef.") },
    { "cooperative in a deadline", cooperative_in_a_deadline,
      TIMELY("FH.", "aFH.", "abfFH.", "abefFH.", "abefcFH.", "abefcF."),
      LOST("FH.", "afFH.", "abfFH.", "abefcF.") },
    { "island", island,
      TIMELY("FH.", "aFH.", "apfhqFH.", "apbfhqFH.", "apbefhqFH.", "apbefqFH.", "apbefqcFH.",
             "apbefqcF."),
      LOST("FH.", "apfhqFH.", "apbefqcF.") },
    { "return", return_through_two_blocks, TIMELY("FHn.", "aFHn.", "afFHn.", "abfFHn.", "abfFr."),
      LOST("FHn.", "afFHn.", "abfFr.") },
    { "break", break_out, TIMELY("h.", "bh.", "b."),
      LOST("h.", "b.") },
    { "thrown on by a handler", rethrow_to_the_outer_block,
      TIMELY("hH.", "bhH.", "behH.", "bec."),
      LOST("hH.", "bec.") },
    { "idle in a body", idle_in_a_body, TIMELY("h.", "bh.", "beh.", "be."), LOST("h.", "bh.", "be.") },
    { "scoped resource", scoped_resource, TIMELY("fh.", "bfh.", "brfh.", "berfh.", "bef."),
      LOST("fh.", "bef.") },
    { "signal mask", signal_mask, TIMELY("fh.", "bfh.", "befh.", "bef."), LOST("fh.", "bef.") },
    { "first block of the thread", deadline, TIMELY("h.", "bh.", "beh.", "be."), LOST("h.", "be."),
      .first = true },
    { "trigger", trigger, TIMELY("afh.", "abfh.", "abf."), .trigger = true },
    { "trigger outside", trigger_outside,
      TIMELY("FH.", "aFH.", "afFH.", "abfFH.", "abefFH.", "abefcFH.", "abefcF."), .trigger = true },
    { "trigger of block and island", trigger_of_block_and_island,
      TIMELY("FH.", "aFH.", "apfhqFH.", "apbfhqFH.", "apbfqFH.", "apbfqcFH.", "apbfqcF."), .trigger = true },
    { "trigger and cooperative", trigger_of_a_cooperative_block, TIMELY("fh.", "bfh.", "bpfh.", "bpef."),
      .trigger = true },
    { "trigger of a first block", trigger, TIMELY("afh.", "abfh.", "abf."), .trigger = true, .first = true },
    { "two in a row", two_blocks_in_a_row, TIMELY("Hh.", "aHh.", "ah.", "abh.", "ab."),
      LOST("Hh.", "ah.", "ab.") },
};

const int scenario_count = sizeof(scenarios) / sizeof(scenarios[0]);
