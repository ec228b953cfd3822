/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Deadlines of PMan's processes and the processes that are activated after a miss. Not covered: real timers. */
#include "pman_testing.h"

static void expect_miss_and_recovery(const struct pman_table *table, int missed, int recovery)
{
    ck_assert_int_eq(out.count, 2);
    ck_assert_int_eq(out.action[0].kind, PMAN_MISSED);
    ck_assert_int_eq(out.action[0].process, missed);
    ck_assert_int_eq(out.action[1].kind, PMAN_RELEASE);
    ck_assert_int_eq(out.action[1].process, recovery);
    ck_assert_int_eq(out.action[1].cause, missed);
    ck_assert_int_eq(table->process[missed].misses, 1);
}

/* Makes "a", with a deadline of 5 ms, and "rescue", and releases a at 0. */
static void release_with_deadline(struct pman_table *table, enum pman_deadlines deadlines)
{
    begin_table(table, deadlines);
    add_process(table, "a", (struct pman_timing){.period = 100, .deadline_ns = 5 * MS}, "rescue");
    add_process(table, "rescue", (struct pman_timing){0}, NULL);
    tick(table, 0, "a");
}

START_TEST(missed_deadline_activates_the_recovery_process_once)
{
    struct pman_table table;
    release_with_deadline(&table, PMAN_DEADLINES_TIMER);
    ck_assert_int_eq(pman_table_next_ns(&table), 5 * MS + 1);
    timer(&table, 5 * MS, "");
    ck_assert_int_eq(pman_table_timer(&table, 5 * MS + 1, &out), 0);
    expect_miss_and_recovery(&table, 0, 1);
    ck_assert_int_eq(pman_table_next_ns(&table), PMAN_NEVER);
    timer(&table, 6 * MS, "");
    finish(&table, "rescue", 7 * MS, "");
    finish(&table, "a", 8 * MS, "");
    ck_assert_int_eq(query(&table, "a").misses, 1);
    ck_assert_int_eq(query(&table, "rescue").activations, 1);
}
END_TEST

START_TEST(finishing_at_the_deadline_is_in_time)
{
    struct pman_table table;
    release_with_deadline(&table, PMAN_DEADLINES_TIMER);
    finish(&table, "a", 5 * MS, "");
    ck_assert_int_eq(query(&table, "a").misses, 0);
    timer(&table, 50 * MS, "");
}
END_TEST

START_TEST(deadline_counts_from_the_release_not_from_the_tick)
{
    struct pman_table table;
    begin_table(&table, PMAN_DEADLINES_TIMER);
    add_process(&table, "a", (struct pman_timing){.period = 9, .delay_ns = 20 * MS, .deadline_ns = 5 * MS}, NULL);
    tick(&table, 0, "");
    timer(&table, 21 * MS, "a"); /* the timer is late by 1 ms; the deadline is not */
    ck_assert_int_eq(pman_table_next_ns(&table), 25 * MS + 1);
}
END_TEST

START_TEST(as_in_the_seed_deadlines_are_looked_at_in_ticks)
{
    struct pman_table table;
    release_with_deadline(&table, PMAN_DEADLINES_TICK);
    ck_assert_int_eq(pman_table_next_ns(&table), PMAN_NEVER);
    timer(&table, 30 * MS, "");
    ck_assert_int_eq(pman_table_tick(&table, 33 * MS, 33 * MS, &out), 0);
    expect_miss_and_recovery(&table, 0, 1);
}
END_TEST

START_TEST(as_in_the_seed_deadlines_are_looked_at_in_the_epilogue)
{
    struct pman_table table;
    release_with_deadline(&table, PMAN_DEADLINES_TICK);
    ck_assert_int_eq(pman_table_finish(&table, "a", 6 * MS, &out), 0);
    expect_miss_and_recovery(&table, 0, 1);
    ck_assert_int_eq(query(&table, "a").status, PMAN_IDLE);
}
END_TEST

START_TEST(recovery_process_that_still_runs_is_skipped)
{
    struct pman_table table;
    release_with_deadline(&table, PMAN_DEADLINES_TIMER);
    add_process(&table, "b", (struct pman_timing){.period = 1, .deadline_ns = MS}, "rescue");
    tick(&table, MS, "b");
    ck_assert_int_eq(pman_table_timer(&table, 3 * MS, &out), 0);
    ck_assert_int_eq(out.count, 2);
    ck_assert_int_eq(pman_table_timer(&table, 6 * MS, &out), 0);
    ck_assert_int_eq(out.count, 1);
    ck_assert_int_eq(out.action[0].kind, PMAN_MISSED);
    ck_assert_int_eq(query(&table, "rescue").skips, 1);
}
END_TEST

START_TEST(miss_without_a_recovery_process_is_reported)
{
    struct pman_table table;
    begin_table(&table, PMAN_DEADLINES_TIMER);
    add_process(&table, "a", (struct pman_timing){.period = 1, .deadline_ns = MS}, "nobody");
    tick(&table, 0, "a");
    ck_assert_int_eq(pman_table_timer(&table, 2 * MS, &out), 0);
    ck_assert_int_eq(out.count, 1);
    ck_assert_int_eq(out.action[0].kind, PMAN_MISSED);
}
END_TEST

/* A recovery process with a period of its own: in its next tick it waits for its predecessors as always. */
START_TEST(recovery_process_keeps_its_precedences_in_the_next_tick)
{
    struct pman_table table;
    release_with_deadline(&table, PMAN_DEADLINES_TIMER);
    add_process(&table, "before", (struct pman_timing){.period = 1}, NULL);
    ck_assert_int_eq(pman_table_precede(&table, "rescue", "before"), 0);
    ck_assert_int_eq(pman_table_timer(&table, 6 * MS, &out), 0);
    expect_miss_and_recovery(&table, 0, 1);
    finish(&table, "rescue", 7 * MS, "");
    ck_assert_int_eq(pman_table_retime(&table, "rescue", PMAN_PERIOD, &(struct pman_timing){.period = 1}), 0);
    tick(&table, 10 * MS, "before");
    ck_assert_int_eq(query(&table, "rescue").status, PMAN_BLOCKED);
    finish(&table, "before", 11 * MS, "rescue");
}
END_TEST

START_TEST(successor_waits_for_a_recovery_process_that_runs)
{
    struct pman_table table;
    release_with_deadline(&table, PMAN_DEADLINES_TIMER);
    add_process(&table, "after", (struct pman_timing){.period = 1}, NULL);
    ck_assert_int_eq(pman_table_precede(&table, "after", "rescue"), 0);
    tick(&table, MS, "after");
    finish(&table, "after", 2 * MS, "");
    ck_assert_int_eq(pman_table_timer(&table, 6 * MS, &out), 0);
    expect_miss_and_recovery(&table, 0, 1);
    tick(&table, 10 * MS, "");
    finish(&table, "rescue", 11 * MS, "after");
}
END_TEST

START_TEST(overdue_process_that_goes_has_missed_its_deadline)
{
    struct pman_table table;
    for (int how = 0; how < 3; how++)
        for (int late = 0; late < 2; late++) {
            release_with_deadline(&table, PMAN_DEADLINES_TICK);
            const int64_t now_ns = 5 * MS + late;
            const int ret = how == 0   ? pman_table_bury(&table, 1, now_ns, &out)
                            : how == 1 ? pman_table_detach(&table, "a", now_ns, &out)
                                       : pman_table_remove(&table, "a", now_ns, &out);
            ck_assert_int_eq(ret, 0);
            ck_assert_int_eq(out.count, 2 * late);
            if (late && how < 2)
                expect_miss_and_recovery(&table, 0, 1);
            ck_assert_int_eq(query(&table, "rescue").activations, late);
        }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        missed_deadline_activates_the_recovery_process_once,
        finishing_at_the_deadline_is_in_time,
        deadline_counts_from_the_release_not_from_the_tick,
        as_in_the_seed_deadlines_are_looked_at_in_ticks,
        as_in_the_seed_deadlines_are_looked_at_in_the_epilogue,
        recovery_process_that_still_runs_is_skipped,
        miss_without_a_recovery_process_is_reported,
        recovery_process_keeps_its_precedences_in_the_next_tick,
        successor_waits_for_a_recovery_process_that_runs,
        overdue_process_that_goes_has_missed_its_deadline,
        NULL,
    };
    return suite_run("pman_deadlines", SUITE_TIMEOUT_DEFAULT, tests);
}
