/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The attributes of the task server. Not covered: what runs in its place (test_event_rules.c, test_slot_sim.c). */
#include "dwcs_server.h"

#include <errno.h>

#include "suite.h"

#define MS INT64_C(1000000)

static const struct dwcs_server_options by_rule = {.base_ns = 10 * MS};

static void add(struct dwcs *dwcs, int x, int y, int period_ms, int service_ms)
{
    const struct dwcs_params params = {.period_ns = period_ms * MS, .service_ns = service_ms * MS, .x = x, .y = y};
    ck_assert_int_ge(dwcs_add(dwcs, &params, 0), 0);
}

static void expect_server(const struct dwcs *dwcs, int x, int y, int period_ms, int service_ms)
{
    const int id = dwcs_server_find(dwcs);
    ck_assert_int_ne(id, DWCS_NONE);
    const struct dwcs_params *const params = &dwcs->process[id].params;
    ck_assert_int_eq(params->x, x);
    ck_assert_int_eq(params->y, y);
    ck_assert_int_eq(params->period_ns, period_ms * MS);
    ck_assert_int_eq(params->service_ns, service_ms * MS);
}

/* Scenario II of the seed's Table 2: the utilisation is 0.42, and 1/0.58 = 1.7 units become 2. */
START_TEST(server_has_the_tightest_window_and_the_rest_of_the_cpu)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    add(&dwcs, 1, 2, 30, 10);
    add(&dwcs, 1, 4, 30, 10);
    ck_assert_int_eq(dwcs_server_update(&dwcs, &by_rule, 0, 0), 0);
    expect_server(&dwcs, 0, 5, 20, 10);
}
END_TEST

/* Four players of the seed's Table 6: 10/0.68 = 14.7 ms become 20; the window constraint was given. */
START_TEST(server_of_table_6)
{
    static const struct dwcs_server_options given = {.base_ns = 10 * MS, .x = 1, .y = 5};
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    for (int i = 0; i < 4; i++)
        add(&dwcs, 1, 5, 100, 10);
    ck_assert_int_eq(dwcs_server_update(&dwcs, &given, 10 * MS, 0), 0);
    expect_server(&dwcs, 1, 5, 20, 10);
}
END_TEST

START_TEST(period_that_is_a_multiple_of_the_base_is_not_rounded_up)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    for (int i = 0; i < 3; i++)
        add(&dwcs, 0, 1, 100, 10); /* 0.1 three times is a little more than 0.3 in doubles */
    add(&dwcs, 0, 1, 100, 20);
    ck_assert_int_eq(dwcs_server_update(&dwcs, &by_rule, 10 * MS, 0), 0);
    expect_server(&dwcs, 0, 2, 20, 10);
}
END_TEST

START_TEST(server_without_other_processes_has_the_whole_cpu)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    ck_assert_int_eq(dwcs_server_update(&dwcs, &by_rule, 0, 0), 0);
    expect_server(&dwcs, 0, 1, 10, 10);
}
END_TEST

START_TEST(changed_service_time_changes_the_period_from_the_next_one_on)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    add(&dwcs, 0, 1, 40, 20);
    ck_assert_int_eq(dwcs_server_update(&dwcs, &by_rule, 10 * MS, 0), 0);
    const int id = dwcs_server_find(&dwcs);
    ck_assert_int_eq(dwcs.process[id].deadline_ns, 20 * MS);
    ck_assert_int_eq(dwcs_server_update(&dwcs, &by_rule, 30 * MS, 10 * MS), 0);
    ck_assert_int_eq(dwcs_server_find(&dwcs), id);
    expect_server(&dwcs, 0, 2, 60, 30);
    ck_assert_int_eq(dwcs.process[id].deadline_ns, 20 * MS);
    dwcs_advance(&dwcs, 20 * MS);
    ck_assert_int_eq(dwcs.process[id].deadline_ns, 80 * MS);
}
END_TEST

START_TEST(there_is_no_server_when_nothing_is_left)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    add(&dwcs, 0, 1, 20, 10);
    ck_assert_int_eq(dwcs_server_update(&dwcs, &by_rule, 0, 0), 0);
    add(&dwcs, 0, 1, 20, 10);
    ck_assert_int_eq(dwcs_server_update(&dwcs, &by_rule, 0, 0), -EBUSY);
    ck_assert_int_eq(dwcs_server_find(&dwcs), DWCS_NONE);
    ck_assert_int_eq(dwcs_server_update(&dwcs, &by_rule, 0, 0), -EBUSY);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        server_has_the_tightest_window_and_the_rest_of_the_cpu,
        server_of_table_6,
        period_that_is_a_multiple_of_the_base_is_not_rounded_up,
        server_without_other_processes_has_the_whole_cpu,
        changed_service_time_changes_the_period_from_the_next_one_on,
        there_is_no_server_when_nothing_is_left,
        NULL,
    };
    return suite_run("dwcs_server", SUITE_TIMEOUT_DEFAULT, tests);
}
