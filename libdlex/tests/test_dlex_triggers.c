/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Triggers: one thread expires a block of another one. Not here: blocks inside each other
 * (test_dlex_trigger_nesting.c), handlers, locks, processes and threads that end (test_dlex_trigger_threads.c),
 * firing at the moment at which a block or a thread ends (test_dlex_trigger_races.c), what a firing makes
 * visible (test_dlex_trigger_handover.c). */
#include <errno.h>

#include "trigger_testing.h"

#define FIRED_IN_THE_BODY(open)                                                                 \
    open {                                                                                      \
        dlex_trigger_bind(&trigger);                                                            \
        log_mark('b');                                                                          \
        begun = true;                                                                           \
        burn(HOUR);                                                                             \
    } dlex_finally {                                                                            \
        log_mark('f');                                                                          \
    } dlex_handle dlex_when(dlex_wcet_violation) {                                              \
        log_mark('w');                                                                          \
    } dlex_when(dlex_deadline_violation) {                                                      \
        log_mark('d');                                                                          \
    } dlex_end                                                                                  \
    log_mark('.')

static void in_a_plain_block(void)        { FIRED_IN_THE_BODY(dlex_try); }
static void in_a_deadline_block(void)     { FIRED_IN_THE_BODY(dlex_try_within_rel(HOUR)); }
static void in_a_block_without_limit(void) { FIRED_IN_THE_BODY(dlex_try_within_abs(INT64_MAX)); }
static void in_a_wcet_block(void)         { FIRED_IN_THE_BODY(dlex_try_within_wcet(HOUR)); }
static void in_an_island(void)            { FIRED_IN_THE_BODY(dlex_try_within_abs_shielded(INT64_MAX)); }

START_TEST(fired_block_is_left_through_its_deadline_handler)
{
    static void (*const kinds[])(void) = {
        in_a_plain_block, in_a_deadline_block, in_a_block_without_limit, in_a_wcet_block, in_an_island,
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        ck_assert_str_eq(log_of(kinds[i]), "bfd.");
        const struct dlex_violation *v = dlex_last_violation();
        ck_assert_ptr_eq(v->type, &dlex_trigger_violation);
        ck_assert_int_ge(v->deadline_ns, fire_begin_ns);
        ck_assert_int_le(v->deadline_ns, fire_end_ns);
        ck_assert_int_ge(v->noticed_ns, v->deadline_ns);
        ck_assert_int_eq(v->released_ns, 0);
        ck_assert_int_ge(v->caught_ns, v->noticed_ns);
        ck_assert_int_lt(dlex_expired_ns(), HOUR);
    }
    ck_assert_int_eq(dlex_guard_.depth, 0);
    ck_assert_int_eq(dlex_remaining_ns(), INT64_MAX);
}
END_TEST

static void with_a_handler_for_each(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        begun = true;
        burn(HOUR);
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark(dlex_caught() == &dlex_trigger_violation ? 't' : 'x');
    } dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
}

START_TEST(handler_can_distinguish_a_firing_from_a_deadline)
{
    ck_assert_str_eq(log_of(with_a_handler_for_each), "t");
}
END_TEST

static void without_a_handler(void)
{
    dlex_try {
        dlex_try_within_rel(HOUR) {
            dlex_trigger_bind(&trigger);
            begun = true;
            burn(HOUR);
        } dlex_end
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('o');
    } dlex_end
}

START_TEST(violation_without_a_handler_goes_outwards)
{
    ck_assert_str_eq(log_of(without_a_handler), "o");
}
END_TEST

static void asleep(void)
{
    dlex_try {
        dlex_trigger_bind(&trigger);
        begun = true;
        sleep(100);
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
    } dlex_end
}

START_TEST(sleeping_body_is_left)
{
    ck_assert_str_eq(log_of(asleep), "t");
}
END_TEST

START_TEST(block_bound_to_a_fired_trigger_is_left_at_once)
{
    log_clear();
    ck_assert_int_eq(dlex_trigger_fire(&trigger), 0);
    for (volatile int i = 0; i < 2; i = i + 1) {
        dlex_try_within_rel(HOUR) {
            log_mark('b');
            dlex_trigger_bind(&trigger);
            log_mark('x');
        } dlex_finally {
            log_mark('f');
        } dlex_handle dlex_when(dlex_trigger_violation) {
            log_mark('t');
        } dlex_end
    }
    ck_assert_str_eq(log_text(), "bftbft");
    ck_assert_int_eq(dlex_last_violation()->released_ns, 0);
    dlex_trigger_reset(&trigger);
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        log_mark('e');
    } dlex_end
    ck_assert_str_eq(log_text(), "bftbfte");
}
END_TEST

START_TEST(cooperative_block_bound_to_a_fired_trigger_is_left_at_once)
{
    log_clear();
    dlex_trigger_fire(&trigger);
    dlex_try_within_rel_cooperative(HOUR) {
        log_mark('b');
        dlex_trigger_bind(&trigger);
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
    } dlex_end
    ck_assert_str_eq(log_text(), "bt");
}
END_TEST

static void fired_after_the_end(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        log_mark('b');
    } dlex_finally {
        wait_for_the_firing();
        log_mark('f');
    } dlex_handle dlex_when_any {
        log_mark('x');
    } dlex_end
    log_mark('.');
}

static void fired_in_the_handler(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        dlex_throw(dlex_exception);
    } dlex_handle dlex_when_any {
        wait_for_the_firing();
        log_mark('h');
    } dlex_end
}

static void fired_in_a_later_block(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
    } dlex_end
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&other);
        wait_for_the_firing();
        burn(MS);
        log_mark('l');
    } dlex_end
}

START_TEST(firing_after_the_end_of_the_body_touches_nothing)
{
    ck_assert_str_eq(log_of(fired_after_the_end), "bf.");
    ck_assert_str_eq(log_of(fired_in_the_handler), "h");
    ck_assert_str_eq(log_of(fired_in_a_later_block), "l");
    ck_assert_int_eq(trigger.thread_, 0);
}
END_TEST

static void fired_in_a_section(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        dlex_try_within_disable();
        dlex_try_within_disable();
        wait_for_the_signal();
        log_mark(dlex_remaining_ns() <= 0 ? 'p' : 'x');
        log_mark(dlex_deadline_ns() <= dlex_now_ns() ? 'q' : 'x');
        dlex_try_within_enable();
        log_mark('s');
        dlex_try_within_enable();
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
    } dlex_end
}

START_TEST(firing_in_a_section_waits_for_its_end)
{
    ck_assert_str_eq(log_of(fired_in_a_section), "pqst");
    const struct dlex_violation *v = dlex_last_violation();
    ck_assert_int_ge(v->released_ns, v->noticed_ns);
    ck_assert_int_ge(v->noticed_ns, v->deadline_ns);
}
END_TEST

static void bound_in_a_section(void)
{
    dlex_try_within_rel(HOUR) {
        wait_for_the_firing();
        dlex_try_within_disable();
        dlex_trigger_bind(&trigger);
        log_mark('p');
        dlex_try_within_enable();
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
    } dlex_end
}

START_TEST(fired_trigger_that_is_bound_in_a_section_waits_for_its_end)
{
    ck_assert_str_eq(log_of(bound_in_a_section), "pt");
}
END_TEST

static void reset_in_a_section(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        dlex_try_within_disable();
        wait_for_the_signal();
        dlex_trigger_reset(&trigger);
        dlex_try_within_enable();
        log_mark('e');
    } dlex_end
    log_mark('.');
}

START_TEST(reset_forgets_a_delayed_violation)
{
    ck_assert_str_eq(log_of(reset_in_a_section), "e.");
}
END_TEST

static void fire_again(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_trigger_bind(&trigger);
        dlex_try_within_disable();
        wait_for_the_signal();
        dlex_trigger_reset(&trigger);
        dlex_try_within_enable();
        log_mark('e');
        dlex_trigger_fire(&trigger);
        log_mark('x');
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('t');
    } dlex_end
}

START_TEST(trigger_can_be_fired_again_after_a_reset)
{
    ck_assert_str_eq(log_of(fire_again), "et");
}
END_TEST

START_TEST(latencies_of_triggers_are_separate_from_those_of_deadlines)
{
    struct dlex_latency triggers, deadlines, all;
    dlex_latency_reset();
    log_of(in_a_deadline_block);
    log_of(fired_in_a_section);
    dlex_latency_read(&dlex_trigger_violation, &triggers);
    dlex_latency_read(&dlex_deadline_violation, &deadlines);
    dlex_latency_read(&dlex_timing_violation, &all);
    ck_assert_int_eq(triggers.count, 2);
    ck_assert_int_eq(triggers.delayed, 1);
    ck_assert_int_eq(deadlines.count, 0);
    ck_assert_int_eq(all.count, 2);
}
END_TEST

static void with_errno_set(void)
{
    errno = 0;
    dlex_try {
        dlex_trigger_bind(&trigger);
        errno = ENOTTY;
        begun = true;
        burn(HOUR);
    } dlex_handle dlex_when_any {
        log_mark(errno == ENOTTY ? 'e' : 'x');
    } dlex_end
}

START_TEST(errno_is_that_of_the_interruption)
{
    ck_assert_str_eq(log_of(with_errno_set), "e");
}
END_TEST

START_TEST(deadline_of_a_bound_block_is_a_deadline_violation)
{
    log_clear();
    dlex_trigger_reset(&trigger);
    dlex_try_within_rel(MS) {
        dlex_trigger_bind(&trigger);
        burn(HOUR);
    } dlex_handle dlex_when(dlex_trigger_violation) {
        log_mark('x');
    } dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    dlex_try_within_wcet(MS) {
        dlex_trigger_bind(&trigger);
        burn(HOUR);
    } dlex_handle dlex_when(dlex_wcet_violation) {
        log_mark('w');
    } dlex_end
    ck_assert_str_eq(log_text(), "dw");
    ck_assert_ptr_eq(dlex_last_violation()->type, &dlex_wcet_violation);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        fired_block_is_left_through_its_deadline_handler,
        handler_can_distinguish_a_firing_from_a_deadline,
        violation_without_a_handler_goes_outwards,
        sleeping_body_is_left,
        block_bound_to_a_fired_trigger_is_left_at_once,
        cooperative_block_bound_to_a_fired_trigger_is_left_at_once,
        firing_after_the_end_of_the_body_touches_nothing,
        firing_in_a_section_waits_for_its_end,
        fired_trigger_that_is_bound_in_a_section_waits_for_its_end,
        reset_forgets_a_delayed_violation,
        trigger_can_be_fired_again_after_a_reset,
        latencies_of_triggers_are_separate_from_those_of_deadlines,
        errno_is_that_of_the_interruption,
        deadline_of_a_bound_block_is_a_deadline_violation,
        NULL,
    };
    return suite_run("libdlex triggers", 120, tests);
}
