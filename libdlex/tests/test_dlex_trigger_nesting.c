/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Triggers and blocks inside each other: which one is left, and when. Shielded and cooperative blocks. */
#include <signal.h>

#include "trigger_testing.h"

/* Two blocks inside each other; each is bound to a trigger or to none. */
static void nested(struct dlex_trigger *outer, struct dlex_trigger *inner)
{
    dlex_try_within_rel(HOUR) {
        if (outer)
            dlex_trigger_bind(outer);
        dlex_try_within_rel(HOUR) {
            if (inner)
                dlex_trigger_bind(inner);
            begun = true;
            burn(HOUR);
        } dlex_finally {
            log_mark('f');
        } dlex_handle dlex_when_any {
            log_mark('i');
        } dlex_end
        log_mark('c');
    } dlex_finally {
        log_mark('F');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('O');
    } dlex_end
    log_mark('.');
}

static void outer_is_bound(void) { nested(&trigger, NULL); }
static void inner_is_bound(void) { nested(NULL, &trigger); }
static void both_are_bound(void) { nested(&trigger, &trigger); }
static void each_is_bound(void)  { nested(&other, &trigger); }

START_TEST(outermost_fired_block_takes_the_violation)
{
    ck_assert_str_eq(log_of(outer_is_bound), "fFO.");
    ck_assert_str_eq(log_of(inner_is_bound), "ficF.");
    ck_assert_str_eq(log_of(both_are_bound), "fFO.");
    ck_assert_str_eq(log_of(each_is_bound), "ficF.");
    ck_assert_str_eq(log_with(&other, each_is_bound), "fFO.");
}
END_TEST

static void inner_ended_before(void)
{
    dlex_try {
        dlex_trigger_bind(&trigger);
        dlex_try {
            dlex_trigger_bind(&trigger);
        } dlex_end
        begun = true;
        burn(HOUR);
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('O');
    } dlex_end
}

START_TEST(outer_block_stays_bound_when_an_inner_one_of_the_same_trigger_has_ended)
{
    ck_assert_str_eq(log_of(inner_ended_before), "O");
}
END_TEST

/* As the decoder has it: a section in which only the island may be interrupted. */
static void decoder(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        dlex_try_within_disable();
        for (volatile int slice = 0; slice < 3; slice = slice + 1) {
            dlex_try_within_rel_shielded(HOUR) {
                dlex_trigger_bind(&trigger);
                log_mark('b');
                begun = true;
                burn(HOUR);
            } dlex_handle dlex_when(dlex_deadline_violation) {
                log_mark('i');
            } dlex_end
        }
        log_mark('p');
        dlex_try_within_enable();
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('o');
    } dlex_end
}

START_TEST(island_and_the_block_around_its_section_are_left_one_after_the_other)
{
    ck_assert_str_eq(log_of(decoder), "biiipo");
}
END_TEST

static void island_of_another_trigger(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        dlex_try_within_disable();
        dlex_try_within_rel_shielded(HOUR) {
            dlex_trigger_bind(&other);
            wait_for_the_signal();
            burn(MS);
            log_mark('b');
        } dlex_handle dlex_when_any {
            log_mark('x');
        } dlex_end
        log_mark('p');
        dlex_try_within_enable();
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('o');
    } dlex_end
}

START_TEST(firing_of_an_outer_block_does_not_reach_into_an_island)
{
    ck_assert_str_eq(log_of(island_of_another_trigger), "bpo");
}
END_TEST

#define COOPERATIVE(open)                                                                       \
    open {                                                                                      \
        dlex_trigger_bind(&trigger);                                                            \
        dlex_checkpoint();                                                                      \
        wait_for_the_firing();                                                                  \
        log_mark('b');                                                                          \
        dlex_try_within_disable();                                                              \
        dlex_checkpoint();                                                                      \
        dlex_try_within_enable();                                                               \
        log_mark(dlex_remaining_ns() <= 0 ? 'p' : 'x');                                         \
        dlex_checkpoint();                                                                      \
        log_mark('x');                                                                          \
    } dlex_handle dlex_when(dlex_trigger_violation) {                                           \
        log_mark('t');                                                                          \
    } dlex_end

static void cooperative_rel(void)  { COOPERATIVE(dlex_try_within_rel_cooperative(HOUR)) }
static void cooperative_none(void) { COOPERATIVE(dlex_try_within_abs_cooperative(INT64_MAX)) }
static void cooperative_wcet(void) { COOPERATIVE(dlex_try_within_wcet_cooperative(HOUR)) }

START_TEST(checkpoint_throws_when_the_trigger_is_fired)
{
    ck_assert_str_eq(log_of(cooperative_rel), "bpt");
    ck_assert_str_eq(log_of(cooperative_none), "bpt");
    ck_assert_str_eq(log_of(cooperative_wcet), "bpt");
}
END_TEST

static void cooperative_in_a_bound_block(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        dlex_try_within_rel_cooperative(HOUR) {
            wait_for_the_signal();
            burn(MS);
            log_mark('b');
            dlex_checkpoint();
            log_mark('x');
        } dlex_finally {
            log_mark('f');
        } dlex_end
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('o');
    } dlex_end
}

static void end_of_a_cooperative_block(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        dlex_try_within_rel_cooperative(HOUR) {
            dlex_trigger_bind(&trigger);
            wait_for_the_signal();
            log_mark('b');
        } dlex_handle dlex_when_any {
            log_mark('x');
        } dlex_end
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('o');
    } dlex_end
}

START_TEST(outer_block_waits_for_a_checkpoint_or_the_end_of_the_cooperative_block)
{
    ck_assert_str_eq(log_of(cooperative_in_a_bound_block), "bfo");
    ck_assert_str_eq(log_of(end_of_a_cooperative_block), "bo");
}
END_TEST

static void island_in_a_cooperative_block(void)
{
    dlex_try_within_rel_cooperative(HOUR) {
        dlex_trigger_bind(&trigger);
        dlex_try_within_rel_shielded(HOUR) {
            dlex_trigger_bind(&trigger);
            begun = true;
            burn(HOUR);
        } dlex_handle dlex_when(dlex_trigger_violation) {
            log_mark('i');
        } dlex_end
        log_mark(trigger.thread_ ? 'x' : 'b');
        dlex_checkpoint();
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
    } dlex_end
}

START_TEST(island_in_a_cooperative_block_of_the_same_trigger_is_left_first)
{
    ck_assert_str_eq(log_of(island_in_a_cooperative_block), "ibt");
    ck_assert_int_eq(trigger.thread_, 0);
}
END_TEST

static void *check_with_all_signals_blocked(void *unused)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    volatile intptr_t left = 0;
    dlex_try_within_rel_cooperative(HOUR) {
        dlex_trigger_bind(&trigger);
        begun = true;
        for (;;)
            dlex_checkpoint();
    } dlex_handle dlex_when(dlex_trigger_violation) {
        left = 1;
    } dlex_end
    (void)unused;
    return (void *)(left && !dlex_thread_state.has_timer && !dlex_thread_state.target.number ? left : 0);
}

static void cooperative_thread(void)
{
    log_mark(result_of(check_with_all_signals_blocked) ? 'c' : 'x');
}

START_TEST(cooperative_block_needs_no_signal)
{
    ck_assert_str_eq(log_of(cooperative_thread), "c");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        outermost_fired_block_takes_the_violation,
        outer_block_stays_bound_when_an_inner_one_of_the_same_trigger_has_ended,
        island_and_the_block_around_its_section_are_left_one_after_the_other,
        firing_of_an_outer_block_does_not_reach_into_an_island,
        checkpoint_throws_when_the_trigger_is_fired,
        outer_block_waits_for_a_checkpoint_or_the_end_of_the_cooperative_block,
        island_in_a_cooperative_block_of_the_same_trigger_is_left_first,
        cooperative_block_needs_no_signal,
        NULL,
    };
    return suite_run("libdlex trigger nesting", 120, tests);
}
