/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table after a program has died in the middle of a call: each test makes what such a call leaves behind. Not covered: calls
 * that are really interrupted; locks (the layer above has them).
 */
#include "pman_testing.h"

#include <errno.h>

enum { A, C }; /* indexes */

/* a, which runs, before c, which is blocked. */
static void begin_blocked(struct pman *table)
{
    begin_table(table, PMAN_DEADLINES_TIMER);
    add_process(table, "a", (struct pman_timing){.period = 1}, NULL);
    add_process(table, "c", (struct pman_timing){.period = 1}, NULL);
    precede(table, "a", "c");
    tick(table, 0, "a");
}

/* Repairs, and expects these actions: a letter each, p for a priority and r for a release, then the index. */
static void repair(struct pman *table, const char *expected)
{
    char found[4 * PMAN_OUT_CAPACITY] = "";
    ck_assert_int_eq(pman_repair(table, 5 * MS, &out), 0);
    for (int i = 0; i < out.count; i++) {
        const char text[] = {out.action[i].kind == PMAN_SET_PRIORITY ? 'p' : 'r', (char)('0' + out.action[i].process), ' ', 0};
        ck_assert_int_ne(out.action[i].kind, PMAN_MISSED);
        strcat(found, text);
    }
    ck_assert_str_eq(found, expected);
}

START_TEST(repair_of_a_whole_table_lists_what_runs_again)
{
    struct pman table;
    begin_blocked(&table);
    repair(&table, "p0 r0 p1 ");
    ck_assert_int_eq(query(&table, "a").activations, 1);
    finish(&table, "a", 6 * MS, "c");
}
END_TEST

/* A tick had marked both, but had not found out what c waits for. */
START_TEST(instance_that_was_only_marked_waits_for_its_predecessors)
{
    struct pman table;
    begin_blocked(&table);
    table.process[C].waits_for = 0;
    repair(&table, "p0 r0 p1 ");
    finish(&table, "a", 6 * MS, "c");
}
END_TEST

/* The epilogue of a had ended its instance, but had not told c. */
START_TEST(instance_whose_predecessors_have_finished_is_released)
{
    struct pman table;
    begin_blocked(&table);
    table.process[A].status = PMAN_IDLE;
    repair(&table, "p0 p1 r1 ");
    finish(&table, "c", 6 * MS, "");
}
END_TEST

/* c had been released, but perhaps nobody had activated it. */
START_TEST(released_instance_is_listed_again)
{
    struct pman table;
    begin_blocked(&table);
    finish(&table, "a", MS, "c");
    repair(&table, "p0 p1 r1 ");
    ck_assert_int_eq(out.action[2].release_ns, MS);
    ck_assert_int_eq(query(&table, "c").activations, 1);
}
END_TEST

START_TEST(half_removed_process_is_gone_with_its_precedences)
{
    struct pman table;
    begin_blocked(&table);
    table.process[A].status = PMAN_FREE;
    repair(&table, "p1 r1 ");
    add_process(&table, "b", (struct pman_timing){.period = 9}, NULL); /* where a was */
    finish(&table, "c", 6 * MS, "");
    ck_assert_int_eq(table.process[C].predecessors, 0);
}
END_TEST

START_TEST(half_registered_process_is_gone)
{
    struct pman table;
    begin_blocked(&table);
    finish(&table, "a", MS, "c");
    table.process[2].status = PMAN_REGISTERED; /* without a name */
    repair(&table, "p0 p1 r1 ");
    ck_assert_int_eq(table.process[2].status, PMAN_FREE);
}
END_TEST

START_TEST(half_attached_process_attaches_again)
{
    struct pman table;
    begin_blocked(&table);
    ck_assert_int_eq(pman_detach(&table, "a", MS, &out), 0);
    table.process[A].pid = 100; /* the status was not yet set */
    repair(&table, "p1 r1 ");
    ck_assert_int_eq(pman_attach(&table, "a", 100, &out), 0);
}
END_TEST

START_TEST(entry_that_makes_no_sense_is_removed)
{
    struct pman table;
    begin_blocked(&table);
    memset(table.process[A].name, 'x', PMAN_NAME_SIZE);
    repair(&table, "p1 r1 ");
    ck_assert_int_eq(pman_find(&table, "a"), -ENOENT);
}
END_TEST

START_TEST(what_is_no_table_stays_as_it_is)
{
    struct pman table;
    begin_blocked(&table);
    table.magic++;
    const struct pman before = table;
    ck_assert_int_eq(pman_repair(&table, 5 * MS, &out), -EPROTO);
    ck_assert_int_eq(out.count, 0);
    ck_assert_mem_eq(&table, &before, sizeof table);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        repair_of_a_whole_table_lists_what_runs_again,
        instance_that_was_only_marked_waits_for_its_predecessors,
        instance_whose_predecessors_have_finished_is_released,
        released_instance_is_listed_again,
        half_removed_process_is_gone_with_its_precedences,
        half_registered_process_is_gone,
        half_attached_process_attaches_again,
        entry_that_makes_no_sense_is_removed,
        what_is_no_table_stays_as_it_is,
        NULL,
    };
    return suite_run("pman_repair", SUITE_TIMEOUT_DEFAULT, tests);
}
