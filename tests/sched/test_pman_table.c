/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PMan's table: registration, attributes that change, the seed's process set. Not covered: deadlines (test_pman_deadlines.c),
 * precedences in detail (test_pman_graph.c) and by chance (test_pman_random.c); locks, signals and real time, which the table
 * knows nothing of.
 */
#include "pman_testing.h"

#include <errno.h>
#include <stdio.h>

START_TEST(process_is_released_at_its_period_from_its_phase_on)
{
    struct pman_table table;
    begin_table(&table, PMAN_DEADLINES_TIMER);
    add_process(&table, "a", (struct pman_timing){.period = 3, .phase = 2}, NULL);
    for (int k = 0; k < 12; k++) {
        const bool is_due = k == 2 || k == 5 || k == 8 || k == 11;
        tick(&table, k * MS, is_due ? "a" : "");
        if (is_due)
            finish(&table, "a", k * MS + 1, "");
    }
    const struct pman_statistics a = query(&table, "a");
    ck_assert_int_eq(a.activations, 4);
    ck_assert_int_eq(a.last_start_ns, 11 * MS);
    ck_assert_int_eq(a.last_finish_ns, 11 * MS + 1);
    ck_assert_int_eq(a.status, PMAN_IDLE);
}
END_TEST

START_TEST(process_without_pid_is_never_due)
{
    struct pman_table table;
    begin_table(&table, PMAN_DEADLINES_TIMER);
    const struct pman_timing each = {.period = 1};
    ck_assert_int_eq(pman_table_add(&table, "a", &each, 50, NULL), 0);
    ck_assert_int_eq(query(&table, "a").status, PMAN_REGISTERED);
    tick(&table, 0, "");
    ck_assert_int_eq(pman_table_attach(&table, "a", 100, &out), 0);
    tick(&table, MS, "a");
}
END_TEST

START_TEST(instance_that_still_runs_makes_the_next_one_skipped)
{
    struct pman_table table;
    begin_table(&table, PMAN_DEADLINES_TIMER);
    add_process(&table, "a", (struct pman_timing){.period = 1}, NULL);
    tick(&table, 0, "a");
    tick(&table, MS, "");
    tick(&table, 2 * MS, "");
    finish(&table, "a", 2 * MS + 1, "");
    tick(&table, 3 * MS, "a");
    ck_assert_int_eq(query(&table, "a").skips, 2);
    ck_assert_int_eq(query(&table, "a").activations, 2);
}
END_TEST

START_TEST(priority_then_registration_order_those_released_together)
{
    struct pman_table table;
    begin_table(&table, PMAN_DEADLINES_TIMER);
    add_process(&table, "a", (struct pman_timing){.period = 1}, NULL);
    add_process(&table, "b", (struct pman_timing){.period = 1}, NULL);
    add_process(&table, "c", (struct pman_timing){.period = 1}, NULL);
    ck_assert_int_eq(pman_table_prioritize(&table, "c", 60, &out), 0);
    tick(&table, 0, "c a b");
    ck_assert_int_eq(pman_table_remove(&table, "a", 1, &out), 0);
    add_process(&table, "d", (struct pman_timing){.period = 1}, NULL); /* where a was, but registered later */
    finish(&table, "b", 2, "");
    finish(&table, "c", 3, "");
    tick(&table, MS, "c b d");
}
END_TEST

START_TEST(delay_counts_from_the_tick)
{
    struct pman_table table;
    begin_table(&table, PMAN_DEADLINES_TIMER);
    add_process(&table, "a", (struct pman_timing){.period = 1, .delay_ns = 20 * MS}, NULL);
    ck_assert_int_eq(pman_table_next_ns(&table), PMAN_NEVER);
    tick(&table, 5 * MS, "");
    ck_assert_int_eq(query(&table, "a").status, PMAN_WAITING);
    ck_assert_int_eq(pman_table_next_ns(&table), 25 * MS);
    timer(&table, 25 * MS - 1, "");
    timer(&table, 25 * MS + 7, "a");
    ck_assert_int_eq(out.action[0].release_ns, 25 * MS);
    ck_assert_int_eq(query(&table, "a").last_start_ns, 25 * MS + 7);
    ck_assert_int_eq(pman_table_next_ns(&table), PMAN_NEVER);
}
END_TEST

/* The manager hears of a tick some time after it. */
START_TEST(delay_counts_from_the_tick_also_if_it_is_noticed_late)
{
    struct pman_table table;
    begin_table(&table, PMAN_DEADLINES_TIMER);
    add_process(&table, "a", (struct pman_timing){.period = 1, .delay_ns = 20 * MS}, NULL);
    add_process(&table, "b", (struct pman_timing){.period = 1, .delay_ns = MS}, NULL);
    ck_assert_int_eq(pman_table_tick(&table, 5 * MS, 8 * MS, &out), 0);
    expect_released(&table, "b");
    ck_assert_int_eq(out.action[0].release_ns, 6 * MS);
    ck_assert_int_eq(query(&table, "b").last_start_ns, 8 * MS);
    ck_assert_int_eq(pman_table_next_ns(&table), 25 * MS);
}
END_TEST

START_TEST(changed_timing_begins_with_the_next_tick)
{
    struct pman_table table;
    begin_table(&table, PMAN_DEADLINES_TIMER);
    add_process(&table, "a", (struct pman_timing){.period = 1, .delay_ns = 4 * MS}, NULL);
    tick(&table, 0, "");
    const struct pman_timing changed = {.period = 2, .delay_ns = 0, .deadline_ns = 3 * MS};
    ck_assert_int_eq(pman_table_retime(&table, "a", PMAN_PERIOD | PMAN_DEADLINE, &changed), 0);
    ck_assert_int_eq(pman_table_retime(&table, "a", PMAN_DELAY, &changed), 0);
    ck_assert_int_eq(pman_table_next_ns(&table), 4 * MS);
    timer(&table, 4 * MS, "a");
    ck_assert_int_eq(pman_table_next_ns(&table), PMAN_NEVER); /* it runs without the new deadline */
    finish(&table, "a", 5 * MS, "");
    tick(&table, 10 * MS, "");
    tick(&table, 20 * MS, "a");
    ck_assert_int_eq(pman_table_next_ns(&table), 23 * MS + 1);
}
END_TEST

START_TEST(wrong_changes_of_timing_are_refused)
{
    struct pman_table table;
    begin_table(&table, PMAN_DEADLINES_TIMER);
    add_process(&table, "a", (struct pman_timing){.period = 1}, NULL);
    const struct pman_timing wrong = {.period = 1, .delay_ns = -1};
    ck_assert_int_eq(pman_table_retime(&table, "b", PMAN_PERIOD, &wrong), -ENOENT);
    ck_assert_int_eq(pman_table_retime(&table, "a", 0, &wrong), -EINVAL);
    ck_assert_int_eq(pman_table_retime(&table, "a", 16, &wrong), -EINVAL);
    ck_assert_int_eq(pman_table_retime(&table, "a", PMAN_DELAY, &wrong), -EINVAL);
    ck_assert_int_eq(pman_table_retime(&table, "a", PMAN_PERIOD, &wrong), 0); /* the other fields are not looked at */
}
END_TEST

static void expect_priority(int pid, int priority)
{
    ck_assert_int_eq(out.count, 1);
    ck_assert_int_eq(out.action[0].kind, PMAN_SET_PRIORITY);
    ck_assert_int_eq(out.action[0].pid, pid);
    ck_assert_int_eq(out.action[0].priority, priority);
}

START_TEST(priority_is_set_now_or_when_there_is_a_pid)
{
    struct pman_table table;
    begin_table(&table, PMAN_DEADLINES_TIMER);
    const struct pman_timing each = {.period = 1};
    ck_assert_int_eq(pman_table_add(&table, "a", &each, 50, NULL), 0);
    ck_assert_int_eq(pman_table_prioritize(&table, "a", 70, &out), 0);
    ck_assert_int_eq(out.count, 0);
    ck_assert_int_eq(table.process[0].qos_update, 1);
    ck_assert_int_eq(pman_table_attach(&table, "a", 7, &out), 0);
    expect_priority(7, 70);
    ck_assert_int_eq(table.process[0].qos_update, 0);
    ck_assert_int_eq(pman_table_prioritize(&table, "a", 99, &out), 0);
    expect_priority(7, 99);
    ck_assert_int_eq(pman_table_prioritize(&table, "a", 100, &out), -ERANGE);
    ck_assert_int_eq(pman_table_prioritize(&table, "a", 0, &out), -ERANGE);
    ck_assert_int_eq(out.count, 0);
    ck_assert_int_eq(table.process[0].priority, 99);
}
END_TEST

START_TEST(role_passes_from_one_process_to_another)
{
    struct pman_table table;
    begin_table(&table, PMAN_DEADLINES_TIMER);
    add_process(&table, "a", (struct pman_timing){.period = 1}, NULL);
    ck_assert_int_eq(pman_table_attach(&table, "a", 8, &out), -EBUSY);
    tick(&table, 0, "a");
    ck_assert_int_eq(pman_table_detach(&table, "a", 1, &out), 0);
    ck_assert_int_eq(pman_table_detach(&table, "a", 1, &out), -ESRCH);
    ck_assert_int_eq(query(&table, "a").last_finish_ns, 1);
    ck_assert_int_eq(pman_table_attach(&table, "a", 8, &out), 0);
    ck_assert_int_eq(pman_table_tick(&table, MS, MS, &out), 0);
    ck_assert_int_eq(out.count, 1);
    ck_assert_int_eq(out.action[0].pid, 8);
}
END_TEST

START_TEST(registration_refuses_what_is_not_possible)
{
    static const struct pman_timing good = {.period = 1}, bad = {.period = -1}, long_delay = {.delay_ns = PMAN_TIME_MAX + 1};
    struct pman_table table;
    begin_table(&table, PMAN_DEADLINES_TIMER);
    ck_assert_int_eq(pman_table_add(&table, "", &good, 50, NULL), -EINVAL);
    ck_assert_int_eq(pman_table_add(&table, "a name of more than 31 characters", &good, 50, NULL), -EINVAL);
    ck_assert_int_eq(pman_table_add(&table, "a", &bad, 50, NULL), -EINVAL);
    ck_assert_int_eq(pman_table_add(&table, "a", &long_delay, 50, NULL), -EINVAL);
    ck_assert_int_eq(pman_table_add(&table, "a", &good, 50, ""), -EINVAL);
    ck_assert_int_eq(pman_table_add(&table, "a", &good, 100, NULL), -ERANGE);
    ck_assert_int_eq(pman_table_add(&table, "a", &good, 50, NULL), 0);
    ck_assert_int_eq(pman_table_add(&table, "a", &good, 50, NULL), -EEXIST);
    ck_assert_int_eq(pman_table_attach(&table, "a", 0, &out), -EINVAL);
    ck_assert_int_eq(pman_table_attach(&table, "b", 1, &out), -ENOENT);
    ck_assert_int_eq(pman_table_finish(&table, "a", 0, &out), -EALREADY);
    ck_assert_int_eq(pman_table_remove(&table, "b", 0, &out), -ENOENT);
    ck_assert_int_eq(pman_table_bury(&table, UINT64_MAX, 0, &out), -ESRCH);
}
END_TEST

START_TEST(table_takes_as_many_processes_as_it_says)
{
    static const struct pman_timing each = {.period = 1};
    const struct pman_table_options options = {.capacity = 2, .priority_max = 9};
    struct pman_table table;
    ck_assert_int_eq(pman_table_init(&table, &options), 0);
    ck_assert_int_eq(pman_table_add(&table, "a", &each, 5, NULL), 0);
    ck_assert_int_eq(pman_table_add(&table, "b", &each, 5, NULL), 0);
    ck_assert_int_eq(pman_table_add(&table, "c", &each, 5, NULL), -ENOSPC);
    ck_assert_int_eq(pman_table_remove(&table, "a", 0, &out), 0);
    ck_assert_int_eq(pman_table_add(&table, "c", &each, 5, NULL), 0);
}
END_TEST

START_TEST(wrong_options_are_refused)
{
    static const struct pman_table_options wrong[] = {
        {.capacity = PMAN_CAPACITY + 1}, {.capacity = -1}, {.priority_min = 2, .priority_max = 1},
    };
    struct pman_table table;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ck_assert_int_eq(pman_table_init(&table, &wrong[i]), -EINVAL);
}
END_TEST

/* In shared memory each program sees the table at another address. */
START_TEST(table_can_be_moved_at_any_time)
{
    struct pman_table first, second;
    begin_table(&first, PMAN_DEADLINES_TIMER);
    add_process(&first, "a", (struct pman_timing){.period = 1}, NULL);
    add_process(&first, "b", (struct pman_timing){.period = 1, .delay_ns = 3 * MS}, NULL);
    precede(&first, "a", "b");
    tick(&first, 0, "a");
    memset(&second, -1, sizeof second);
    pman_table_copy(&second, &first);
    memset(&first, -1, sizeof first);
    finish(&second, "a", MS, "");
    timer(&second, 3 * MS, "b");
}
END_TEST

START_TEST(failed_call_leaves_a_copy_as_it_was)
{
    struct pman_table first, second;
    begin_table(&first, PMAN_DEADLINES_TIMER);
    add_process(&first, "a", (struct pman_timing){.period = 1}, NULL);
    memset(&second, 0, sizeof second);
    pman_table_copy(&second, &first);
    ck_assert_int_eq(pman_table_attach(&second, "a", 7, &out), -EBUSY);
    ck_assert_int_eq(pman_table_prioritize(&second, "a", 100, &out), -ERANGE);
    ck_assert_int_eq(pman_table_finish(&second, "a", MS, &out), -EALREADY);
    ck_assert_int_eq(pman_table_unprecede(&second, "a", "a", MS, &out), -ENOENT);
    ck_assert_mem_eq(&second, &first, sizeof first - (PMAN_CAPACITY - 1) * sizeof first.process[0]);
}
END_TEST

/* For a caller that died before it had carried out the actions. */
START_TEST(priorities_and_running_instances_can_be_listed_again)
{
    struct pman_table table;
    begin_table(&table, PMAN_DEADLINES_TIMER);
    add_process(&table, "a", (struct pman_timing){.period = 1}, NULL);
    add_process(&table, "b", (struct pman_timing){.period = 1, .delay_ns = 3 * MS}, NULL);
    ck_assert_int_eq(pman_table_add(&table, "c", &(struct pman_timing){.period = 1}, 50, NULL), 0);
    tick(&table, MS, "a");
    pman_table_list_again(&table, &out);
    ck_assert_int_eq(out.count, 3);
    ck_assert_int_eq(out.action[0].kind, PMAN_SET_PRIORITY);
    ck_assert_int_eq(out.action[1].kind, PMAN_RELEASE);
    ck_assert_int_eq(out.action[1].release_ns, MS);
    ck_assert_int_eq(out.action[1].process, 0);
    ck_assert_int_eq(out.action[2].kind, PMAN_SET_PRIORITY);
    ck_assert_int_eq(out.action[2].process, 1);
    ck_assert_int_eq(query(&table, "a").activations, 1);
}
END_TEST

/* The seed's Table 3. All have period 1; Control and WSUpdater have a delay of 20 ms. */
static void begin_cambada(struct pman_table *table)
{
    static const char *const last[] = {"Control", "WSUpdater"};
    char name[PMAN_NAME_SIZE], predecessor[PMAN_NAME_SIZE];
    begin_table(table, PMAN_DEADLINES_TIMER);
    add_process(table, "readFireWire", (struct pman_timing){.period = 1}, NULL);
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "Color_Class%d", i);
        add_process(table, name, (struct pman_timing){.period = 1}, NULL);
        precede(table, "readFireWire", name);
    }
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "Obj_Track%d", i);
        add_process(table, name, (struct pman_timing){.period = 1}, NULL);
        for (int j = 0; j < 4; j++) {
            snprintf(predecessor, sizeof predecessor, "Color_Class%d", j);
            precede(table, predecessor, name);
        }
    }
    for (int i = 0; i < 2; i++) {
        add_process(table, last[i], (struct pman_timing){.period = 1, .delay_ns = 20 * MS}, NULL);
        for (int j = 0; j < 5; j++) {
            snprintf(predecessor, sizeof predecessor, "Obj_Track%d", j);
            precede(table, predecessor, last[i]);
        }
    }
}

/* Finishes all processes of a stage, each 1 ms after the other; the last one lets the next stage begin. */
static void finish_stage(struct pman_table *table, const char *stage, int count, int64_t from_ns, const char *released)
{
    char name[PMAN_NAME_SIZE];
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%s%d", stage, i);
        finish(table, name, from_ns + i * MS, i < count - 1 ? "" : released);
    }
}

START_TEST(process_set_of_the_seeds_table_3)
{
    static const char *const tracks = "Obj_Track0 Obj_Track1 Obj_Track2 Obj_Track3 Obj_Track4";
    struct pman_table table;
    begin_cambada(&table);
    tick(&table, 0, "readFireWire");
    finish(&table, "readFireWire", 2 * MS, "Color_Class0 Color_Class1 Color_Class2 Color_Class3");
    finish_stage(&table, "Color_Class", 4, 5 * MS, tracks);
    finish_stage(&table, "Obj_Track", 5, 10 * MS, "");
    ck_assert_int_eq(pman_table_next_ns(&table), 20 * MS);
    timer(&table, 20 * MS, "Control WSUpdater");
    finish(&table, "Control", 21 * MS, "");
    finish(&table, "WSUpdater", 22 * MS, "");

    /* The next picture takes longer than the delay: the precedence still holds. */
    tick(&table, 33 * MS, "readFireWire");
    finish(&table, "readFireWire", 40 * MS, "Color_Class0 Color_Class1 Color_Class2 Color_Class3");
    finish_stage(&table, "Color_Class", 4, 45 * MS, tracks);
    timer(&table, 53 * MS, "");
    finish_stage(&table, "Obj_Track", 5, 54 * MS, "Control WSUpdater");
    ck_assert_int_eq(out.action[0].release_ns, 58 * MS);
    for (int i = 0; i < 12; i++)
        ck_assert_int_eq(table.process[i].activations, 2);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        process_is_released_at_its_period_from_its_phase_on,
        process_without_pid_is_never_due,
        instance_that_still_runs_makes_the_next_one_skipped,
        priority_then_registration_order_those_released_together,
        delay_counts_from_the_tick,
        delay_counts_from_the_tick_also_if_it_is_noticed_late,
        changed_timing_begins_with_the_next_tick,
        wrong_changes_of_timing_are_refused,
        priority_is_set_now_or_when_there_is_a_pid,
        role_passes_from_one_process_to_another,
        registration_refuses_what_is_not_possible,
        table_takes_as_many_processes_as_it_says,
        wrong_options_are_refused,
        table_can_be_moved_at_any_time,
        failed_call_leaves_a_copy_as_it_was,
        priorities_and_running_instances_can_be_listed_again,
        process_set_of_the_seeds_table_3,
        NULL,
    };
    return suite_run("pman_table", SUITE_TIMEOUT_DEFAULT, tests);
}
