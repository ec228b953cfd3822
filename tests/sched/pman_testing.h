/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of PMan share: short forms of the services, which expect them to succeed. */
#ifndef PMAN_TESTING_H
#define PMAN_TESTING_H

#include "pman_table.h"

#include <stdbool.h>
#include <string.h>

#include "suite.h"

#define MS INT64_C(1000000)

/* The list of actions of the last call. */
static struct pman_out out;

static inline void begin_table(struct pman_table *table, enum pman_deadlines deadlines)
{
    const struct pman_table_options options = {.deadlines = deadlines, .priority_min = 1, .priority_max = 99};
    memset(table, -1, sizeof *table);
    ck_assert_int_eq(pman_table_init(table, &options), 0);
}

/* Adds a process and attaches it; its pid is 100 + its index. */
static inline void add_process(struct pman_table *table, const char *name, struct pman_timing timing, const char *recovery)
{
    ck_assert_int_eq(pman_table_add(table, name, &timing, 50, recovery), 0);
    ck_assert_int_eq(pman_table_attach(table, name, 100 + pman_table_find(table, name), &out), 0);
}

static inline void precede(struct pman_table *table, const char *predecessor, const char *name)
{
    ck_assert_int_eq(pman_table_precede(table, name, predecessor), 0);
}

/* Expects that the last call released these processes, in this order, separated by blanks, and did nothing else. */
static inline void expect_released(const struct pman_table *table, const char *names)
{
    char released[PMAN_CAPACITY * PMAN_NAME_SIZE] = "";
    for (int i = 0; i < out.count; i++) {
        const struct pman_action *const action = &out.action[i];
        ck_assert_int_eq(action->kind, PMAN_RELEASE);
        ck_assert_int_eq(action->pid, 100 + action->process);
        strcat(strcat(released, i ? " " : ""), table->process[action->process].name);
    }
    ck_assert_str_eq(released, names);
}

static inline void tick(struct pman_table *table, int64_t now_ns, const char *released)
{
    ck_assert_int_eq(pman_table_tick(table, now_ns, now_ns, &out), 0);
    expect_released(table, released);
}

static inline void timer(struct pman_table *table, int64_t now_ns, const char *released)
{
    ck_assert_int_eq(pman_table_timer(table, now_ns, &out), 0);
    expect_released(table, released);
}

static inline void finish(struct pman_table *table, const char *name, int64_t now_ns, const char *released)
{
    ck_assert_int_eq(pman_table_finish(table, name, now_ns, &out), 0);
    expect_released(table, released);
}

static inline struct pman_statistics query(const struct pman_table *table, const char *name)
{
    struct pman_statistics statistics;
    ck_assert_int_eq(pman_table_query(table, name, &statistics), 0);
    return statistics;
}

#endif
