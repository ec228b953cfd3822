/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scenarios with a block inside another block. */
#include "scenarios.h"

#include <dlex/dlex.h>

#include "world.h"

void own_exception_to_the_outer_block(void)
{
    dlex_try_within_abs(AT(NEAR)) {
        mark('a');
        dlex_try_within_abs(AT(FAR)) {
            mark('b');
            dlex_throw(steps_error);
        } dlex_finally {
            mark('f');
        } dlex_handle dlex_when(dlex_timing_violation) {
            mark('h');
        } dlex_end
        mark('c');
    } dlex_finally {
        mark('F');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        mark('H');
    } dlex_when(steps_error) {
        mark('x');
    } dlex_end
    mark('.');
}

/* Two nested blocks, each with a finally part and handlers. open_... is one of the dlex_try_within_*. */
#define NESTED(open_outer, outer_violation, open_inner)                                         \
    open_outer {                                                                                \
        mark('a');                                                                              \
        open_inner {                                                                            \
            mark('b');                                                                          \
            mark('e');                                                                          \
        } dlex_finally {                                                                        \
            mark('f');                                                                          \
        } dlex_handle dlex_when(dlex_timing_violation) {                                        \
            mark('h');                                                                          \
        } dlex_end                                                                              \
        mark('c');                                                                              \
    } dlex_finally {                                                                            \
        mark('F');                                                                              \
    } dlex_handle dlex_when(outer_violation) {                                                  \
        mark('H');                                                                              \
    } dlex_end                                                                                  \
    mark('.')

void trigger_outside(void)
{
    dlex_try {
        dlex_trigger_bind(&world.trigger);
        mark('a');
        dlex_try_within_abs(AT(FAR)) {
            mark('b');
            mark('e');
        } dlex_finally {
            mark('f');
        } dlex_handle dlex_when(dlex_timing_violation) {
            mark('h');
        } dlex_end
        mark('c');
    } dlex_finally {
        mark('F');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        mark('H');
    } dlex_end
    mark('.');
}

void trigger_of_block_and_island(void)
{
    dlex_try_within_abs(AT(FAR)) {
        dlex_trigger_bind(&world.trigger);
        mark('a');
        dlex_try_within_disable();
        mark('p');
        dlex_try_within_abs_shielded(INT64_MAX) {
            dlex_trigger_bind(&world.trigger);
            mark('b');
        } dlex_finally {
            mark('f');
        } dlex_handle dlex_when(dlex_deadline_violation) {
            mark('h');
        } dlex_end
        mark('q');
        dlex_try_within_enable();
        mark('c');
    } dlex_finally {
        mark('F');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        mark('H');
    } dlex_end
    mark('.');
}

void outer_deadline_expires(void)
{
    NESTED(dlex_try_within_abs(AT(NEAR)), dlex_deadline_violation, dlex_try_within_abs(AT(FAR)));
}

void inner_deadline_expires(void)
{
    NESTED(dlex_try_within_abs(AT(FAR)), dlex_deadline_violation, dlex_try_within_abs(AT(NEAR)));
}

void both_deadlines_expire(void)
{
    NESTED(dlex_try_within_abs(AT(NEXT)), dlex_deadline_violation, dlex_try_within_abs(AT(NEAR)));
}

void wcet_outside_expires(void)
{
    NESTED(dlex_try_within_wcet(NEAR), dlex_wcet_violation, dlex_try_within_abs(AT(FAR)));
}

void wcet_inside_expires(void)
{
    NESTED(dlex_try_within_abs(AT(FAR)), dlex_deadline_violation, dlex_try_within_wcet(NEAR));
}

void deadline_and_wcet_inside_expire(void)
{
    NESTED(dlex_try_within_abs(AT(NEXT)), dlex_deadline_violation, dlex_try_within_wcet(NEAR));
}

void block_without_constraint_inside(void)
{
    NESTED(dlex_try_within_abs(AT(NEAR)), dlex_deadline_violation, dlex_try);
}

/* The inner deadline expires in the body without the tracer. So the outer deadline expires at each instruction of the
 * signal handler, the jump, the finally part and the handler. */
void outer_expires_while_inner_is_handled(void)
{
    dlex_try_within_abs(AT(NEXT)) {
        mark('a');
        dlex_try_within_abs(AT(NEAR)) {
            mark('b');
            world_pass(SOONER);
            mark('e');
        } dlex_finally {
            mark('f');
        } dlex_handle dlex_when(dlex_deadline_violation) {
            mark('h');
        } dlex_end
        mark('c');
    } dlex_finally {
        mark('F');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        mark('H');
    } dlex_end
    mark('.');
}

void wcet_expires_while_a_section_ends(void)
{
    dlex_try_within_wcet(NEXT) {
        mark('a');
        dlex_try_within_wcet(NEAR) {
            dlex_try_within_disable();
            mark('p');
            world_pass(SOONER);
            mark('q');
            dlex_try_within_enable();
            mark('e');
        } dlex_finally {
            mark('f');
        } dlex_handle dlex_when(dlex_wcet_violation) {
            mark('h');
        } dlex_end
        mark('c');
    } dlex_finally {
        mark('F');
    } dlex_handle dlex_when(dlex_wcet_violation) {
        mark('H');
    } dlex_end
    mark('.');
}

void cooperative_in_a_deadline(void)
{
    dlex_try_within_abs(AT(NEAR)) {
        mark('a');
        dlex_try_within_wcet_cooperative(FAR) {
            mark('b');
            dlex_checkpoint();
            mark('e');
        } dlex_finally {
            mark('f');
        } dlex_handle dlex_when(dlex_timing_violation) {
            mark('h');
        } dlex_end
        mark('c');
    } dlex_finally {
        mark('F');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        mark('H');
    } dlex_end
    mark('.');
}

void island(void)
{
    dlex_try_within_abs(AT(NEXT)) {
        mark('a');
        dlex_try_within_disable();
        mark('p');
        dlex_try_within_abs_shielded(AT(NEAR)) {
            mark('b');
            mark('e');
        } dlex_finally {
            mark('f');
        } dlex_handle dlex_when(dlex_deadline_violation) {
            mark('h');
        } dlex_end
        mark('q');
        dlex_try_within_enable();
        mark('c');
    } dlex_finally {
        mark('F');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        mark('H');
    } dlex_end
    mark('.');
}

static int return_from_both(void)
{
    dlex_try_within_abs(AT(NEAR)) {
        mark('a');
        dlex_try_within_abs(AT(FAR)) {
            mark('b');
            dlex_return('r');
        } dlex_finally {
            mark('f');
        } dlex_end
    } dlex_finally {
        mark('F');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        mark('H');
    } dlex_end
    return 'n';
}

void return_through_two_blocks(void)
{
    mark((char)return_from_both());
    mark('.');
}

void rethrow_to_the_outer_block(void)
{
    dlex_try {
        dlex_try_within_abs(AT(NEAR)) {
            mark('b');
            mark('e');
        } dlex_handle dlex_when(dlex_deadline_violation) {
            mark('h');
            dlex_rethrow();
        } dlex_end
        mark('c');
    } dlex_handle dlex_when(dlex_timing_violation) {
        mark('H');
    } dlex_end
    mark('.');
}
