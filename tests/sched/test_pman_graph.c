/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Precedences: what waits for what, with equal and different periods, and while they change. */
#include "pman_testing.h"

#include <errno.h>

static const struct pman_timing each = {.period = 1};

/* The seed added precedences because a successor that was triggered at the same time overtook on a second CPU. */
START_TEST(successor_that_is_registered_first_does_not_overtake)
{
    struct pman_table table;
    begin_table(&table, PMAN_DEADLINES_TIMER);
    add_process(&table, "after", each, NULL);
    add_process(&table, "before", each, NULL);
    ck_assert_int_eq(pman_table_prioritize(&table, "after", 99, &out), 0);
    precede(&table, "before", "after");
    tick(&table, 0, "before");
    ck_assert_int_eq(query(&table, "after").status, PMAN_BLOCKED);
    finish(&table, "before", 1, "after");
}
END_TEST

START_TEST(all_predecessors_must_have_finished)
{
    struct pman_table table;
    begin_table(&table, PMAN_DEADLINES_TIMER);
    add_process(&table, "a", each, NULL);
    add_process(&table, "b", each, NULL);
    add_process(&table, "c", each, NULL);
    precede(&table, "a", "c");
    precede(&table, "b", "c");
    tick(&table, 0, "a b");
    finish(&table, "b", 1, "");
    finish(&table, "a", 2, "c");
    ck_assert_int_eq(out.action[0].release_ns, 2);
    ck_assert_int_eq(out.action[0].cause, PMAN_NONE);
}
END_TEST

START_TEST(cycles_are_refused)
{
    struct pman_table table;
    begin_table(&table, PMAN_DEADLINES_TIMER);
    add_process(&table, "a", each, NULL);
    add_process(&table, "b", each, NULL);
    add_process(&table, "c", each, NULL);
    precede(&table, "a", "b");
    precede(&table, "b", "c");
    precede(&table, "b", "c"); /* again */
    ck_assert_int_eq(pman_table_precede(&table, "a", "c"), -ELOOP);
    ck_assert_int_eq(pman_table_precede(&table, "a", "a"), -ELOOP);
    ck_assert_int_eq(pman_table_precede(&table, "a", "x"), -ENOENT);
    ck_assert_int_eq(pman_table_precede(&table, "x", "a"), -ENOENT);
    tick(&table, 0, "a");
    finish(&table, "a", 1, "b");
    finish(&table, "b", 2, "c");
    finish(&table, "c", 3, "");
    ck_assert_int_eq(pman_table_unprecede(&table, "c", "b", 4, &out), 0);
    ck_assert_int_eq(pman_table_unprecede(&table, "c", "b", 4, &out), -ENOENT);
    precede(&table, "c", "a");
    tick(&table, 5, "c");
}
END_TEST

START_TEST(slow_predecessor_is_no_condition_in_ticks_without_it)
{
    struct pman_table table;
    begin_table(&table, PMAN_DEADLINES_TIMER);
    add_process(&table, "slow", (struct pman_timing){.period = 3}, NULL);
    add_process(&table, "fast", each, NULL);
    precede(&table, "slow", "fast");
    tick(&table, 0, "slow");
    finish(&table, "slow", 1, "fast");
    for (int k = 1; k < 3; k++) {
        finish(&table, "fast", k * MS - 1, "");
        tick(&table, k * MS, "fast");
    }
    finish(&table, "fast", 3 * MS - 1, "");
    tick(&table, 3 * MS, "slow");
}
END_TEST

/* In tick 3 the fast one is not due again, as its instance of tick 2 runs; the slow one waits for that. */
START_TEST(fast_predecessors_instances_since_the_last_activation_count)
{
    struct pman_table table;
    begin_table(&table, PMAN_DEADLINES_TIMER);
    add_process(&table, "fast", each, NULL);
    add_process(&table, "slow", (struct pman_timing){.period = 3}, NULL);
    precede(&table, "fast", "slow");
    tick(&table, 0, "fast");
    finish(&table, "fast", 1, "slow");
    finish(&table, "slow", 2, "");
    tick(&table, 1 * MS, "fast");
    finish(&table, "fast", 1 * MS + 1, "");
    tick(&table, 2 * MS, "fast");
    tick(&table, 3 * MS, "");
    ck_assert_int_eq(query(&table, "slow").status, PMAN_BLOCKED);
    ck_assert_int_eq(query(&table, "fast").skips, 1);
    finish(&table, "fast", 3 * MS + 1, "slow");
}
END_TEST

/* Its next instance is no condition for a successor that was activated before. */
START_TEST(later_instance_of_a_predecessor_is_no_condition)
{
    struct pman_table table;
    begin_table(&table, PMAN_DEADLINES_TIMER);
    add_process(&table, "quick", each, NULL);
    add_process(&table, "lazy", (struct pman_timing){.period = 9}, NULL);
    add_process(&table, "last", (struct pman_timing){.period = 9}, NULL);
    precede(&table, "quick", "last");
    precede(&table, "lazy", "last");
    tick(&table, 0, "quick lazy");
    finish(&table, "quick", 1, "");
    tick(&table, MS, "quick");
    finish(&table, "lazy", MS + 1, "last");
}
END_TEST

START_TEST(blocked_process_is_skipped_in_the_next_tick)
{
    struct pman_table table;
    begin_table(&table, PMAN_DEADLINES_TIMER);
    add_process(&table, "a", (struct pman_timing){.period = 2}, NULL);
    add_process(&table, "b", each, NULL);
    precede(&table, "a", "b");
    tick(&table, 0, "a");
    tick(&table, MS, "");
    ck_assert_int_eq(query(&table, "b").skips, 1);
    finish(&table, "a", MS + 1, "b");
}
END_TEST

/* The instance of a was activated before b's last one. A precedence that came in between does not reach back. */
START_TEST(new_precedence_holds_for_later_activations)
{
    struct pman_table table;
    begin_table(&table, PMAN_DEADLINES_TIMER);
    add_process(&table, "a", (struct pman_timing){.period = 2}, NULL);
    add_process(&table, "b", each, NULL);
    tick(&table, 0, "a b");
    finish(&table, "b", 1, "");
    precede(&table, "a", "b");
    tick(&table, MS, "b");
    finish(&table, "b", MS + 1, "");
    finish(&table, "a", MS + 2, "");
    tick(&table, 2 * MS, "a");
    finish(&table, "a", 2 * MS + 1, "b");
}
END_TEST

/* a before c, and c has a delay. */
static void begin_blocked(struct pman_table *table)
{
    begin_table(table, PMAN_DEADLINES_TIMER);
    add_process(table, "a", each, NULL);
    add_process(table, "c", (struct pman_timing){.period = 1, .delay_ns = MS}, NULL);
    precede(table, "a", "c");
    tick(table, 0, "a");
    timer(table, 2 * MS, "");
}

START_TEST(removed_precedence_releases_who_waited_for_it)
{
    struct pman_table table;
    begin_blocked(&table);
    ck_assert_int_eq(pman_table_unprecede(&table, "c", "a", 3 * MS, &out), 0);
    expect_released(&table, "c");
    ck_assert_int_eq(out.action[0].release_ns, 3 * MS);
}
END_TEST

START_TEST(removed_process_releases_who_waited_for_it)
{
    struct pman_table table;
    begin_blocked(&table);
    ck_assert_int_eq(pman_table_remove(&table, "a", 3 * MS, &out), 0);
    expect_released(&table, "c");
    finish(&table, "c", 4 * MS, "");
    add_process(&table, "b", each, NULL); /* where a was: it is no predecessor */
    tick(&table, 10 * MS, "b");
    timer(&table, 11 * MS, "c");
}
END_TEST

START_TEST(detached_process_releases_who_waited_for_it_and_is_no_condition)
{
    struct pman_table table;
    begin_blocked(&table);
    ck_assert_int_eq(pman_table_detach(&table, "a", 3 * MS, &out), 0);
    expect_released(&table, "c");
    finish(&table, "c", 4 * MS, "");
    tick(&table, 10 * MS, "");
    timer(&table, 11 * MS, "c");
}
END_TEST

START_TEST(dead_process_releases_who_waited_for_it)
{
    struct pman_table table;
    begin_blocked(&table);
    ck_assert_int_eq(pman_table_bury(&table, 1, 3 * MS, &out), 0);
    expect_released(&table, "c");
    ck_assert_int_eq(query(&table, "a").status, PMAN_DIED);
    ck_assert_int_eq(query(&table, "a").pid, 0);
    finish(&table, "c", 4 * MS, "");
    ck_assert_int_eq(pman_table_attach(&table, "a", 100, &out), 0);
    tick(&table, 10 * MS, "a");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        successor_that_is_registered_first_does_not_overtake,
        all_predecessors_must_have_finished,
        cycles_are_refused,
        slow_predecessor_is_no_condition_in_ticks_without_it,
        fast_predecessors_instances_since_the_last_activation_count,
        later_instance_of_a_predecessor_is_no_condition,
        blocked_process_is_skipped_in_the_next_tick,
        new_precedence_holds_for_later_activations,
        removed_precedence_releases_who_waited_for_it,
        removed_process_releases_who_waited_for_it,
        detached_process_releases_who_waited_for_it_and_is_no_condition,
        dead_process_releases_who_waited_for_it,
        NULL,
    };
    return suite_run("pman_graph", SUITE_TIMEOUT_DEFAULT, tests);
}
