/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules 1 to 5 of event scheduling, each alone. Not covered: whole schedules (test_slot_sim.c). */
#include "dwcs_server.h"
#include "event_rules.h"

#include "suite.h"

#define SLOT INT64_C(10000000)

enum { FILM, GAME, SHELL }; /* ids */

struct bench {
    struct dwcs dwcs;
    struct event_queue events;
};

static void add(struct bench *bench, int id, int x, int y, int period, bool is_work_conserving)
{
    const struct dwcs_params params = {
        .period_ns = period * SLOT, .service_ns = SLOT, .x = x, .y = y, .is_work_conserving = is_work_conserving,
    };
    ck_assert_int_eq(dwcs_add(&bench->dwcs, &params, 0), id);
}

/* Two real-time processes with equal periods, of which DWCS prefers the film, and a best-effort one. */
static void set_up(struct bench *bench, int period, bool is_work_conserving)
{
    dwcs_init(&bench->dwcs);
    event_queue_init(&bench->events);
    add(bench, FILM, 1, 4, period, is_work_conserving);
    add(bench, GAME, 1, 2, period, is_work_conserving);
    ck_assert_int_eq(dwcs_add_best_effort(&bench->dwcs), SHELL);
}

static struct event_choice choose(struct bench *bench, unsigned rules, int slot)
{
    dwcs_advance(&bench->dwcs, slot * SLOT);
    return event_choose(&bench->dwcs, &bench->events, rules, slot * SLOT);
}

/* Runs the choice for a slot, too. */
static int run_slot(struct bench *bench, unsigned rules, int slot)
{
    const struct event_choice choice = choose(bench, rules, slot);
    event_account(&bench->dwcs, &choice, SLOT);
    return choice.runs;
}

static void expect_choice(const struct event_choice *choice, int selected, int runs, int rule)
{
    ck_assert_int_eq(choice->selected, selected);
    ck_assert_int_eq(choice->runs, runs);
    ck_assert_int_eq(choice->rule, rule);
    ck_assert_int_eq(event_is_swap(choice), rule > 1);
}

START_TEST(rule_1_delivers_to_the_selected_process)
{
    struct bench bench;
    set_up(&bench, 4, false);
    event_raise(&bench.events, FILM, 0, 17);
    const struct event_choice choice = choose(&bench, EVENT_RULE_1, 0);
    expect_choice(&choice, FILM, FILM, 1);
    ck_assert_int_eq(choice.data, 17);
    ck_assert_int_eq(bench.events.count, 0);
}
END_TEST

START_TEST(rule_1_delivers_behind_the_event_of_another_process)
{
    struct bench bench;
    set_up(&bench, 4, false);
    event_raise(&bench.events, GAME, 0, 1);
    event_raise(&bench.events, FILM, 0, 2);
    const struct event_choice choice = choose(&bench, EVENT_RULE_1, 0);
    expect_choice(&choice, FILM, FILM, 1);
    ck_assert_int_eq(choice.data, 2);
    ck_assert_int_eq(bench.events.count, 1);
    ck_assert_int_eq(bench.events.event[0].sink, GAME);
}
END_TEST

START_TEST(rule_1_looks_at_the_first_event_only_if_asked_to)
{
    struct bench bench;
    set_up(&bench, 4, false);
    event_raise(&bench.events, GAME, 0, 1);
    event_raise(&bench.events, FILM, 0, 2);
    struct event_choice choice = choose(&bench, EVENT_RULE_1 | EVENT_FIRST_ONLY, 0);
    expect_choice(&choice, FILM, FILM, 0);
    ck_assert_int_eq(bench.events.count, 2);
    event_remove(&bench.events, 0);
    choice = choose(&bench, EVENT_RULE_1 | EVENT_FIRST_ONLY, 0);
    expect_choice(&choice, FILM, FILM, 1);
}
END_TEST

START_TEST(event_of_the_future_waits)
{
    struct bench bench;
    set_up(&bench, 4, false);
    event_raise(&bench.events, FILM, SLOT, 0);
    struct event_choice choice = choose(&bench, EVENT_RULES_ALL, 0);
    expect_choice(&choice, FILM, FILM, 0);
    ck_assert_int_eq(bench.events.count, 1);
    choice = choose(&bench, EVENT_RULES_ALL, 1);
    expect_choice(&choice, FILM, FILM, 1);
}
END_TEST

/* Slots 0 and 1 serve both; from slot 2 on DWCS selects the shell. */
START_TEST(rule_2_puts_the_sink_before_best_effort_processes)
{
    struct bench bench;
    set_up(&bench, 4, false);
    ck_assert_int_eq(run_slot(&bench, 0, 0), FILM);
    ck_assert_int_eq(run_slot(&bench, 0, 1), GAME);
    event_raise(&bench.events, GAME, 0, 0);
    struct event_choice choice = choose(&bench, EVENT_RULES_ALL & ~EVENT_RULE_2, 2);
    expect_choice(&choice, SHELL, SHELL, 0);
    choice = choose(&bench, EVENT_RULE_2, 2);
    expect_choice(&choice, SHELL, GAME, 2);
    ck_assert_int_eq(bench.events.count, 0);
    event_account(&bench.dwcs, &choice, SLOT);
    ck_assert_int_eq(run_slot(&bench, EVENT_RULE_2, 3), SHELL);
}
END_TEST

START_TEST(idle_cpu_counts_as_best_effort)
{
    struct bench bench;
    set_up(&bench, 4, false);
    dwcs_block(&bench.dwcs, SHELL);
    run_slot(&bench, 0, 0);
    run_slot(&bench, 0, 1);
    event_raise(&bench.events, FILM, 0, 0);
    const struct event_choice choice = choose(&bench, EVENT_RULE_2, 2);
    expect_choice(&choice, DWCS_NONE, FILM, 2);
}
END_TEST

START_TEST(rule_3_puts_the_sink_before_a_process_that_has_had_its_service)
{
    struct bench bench;
    set_up(&bench, 4, true);
    run_slot(&bench, 0, 0);
    run_slot(&bench, 0, 1);
    event_raise(&bench.events, GAME, 0, 0);
    struct event_choice choice = choose(&bench, EVENT_RULES_ALL & ~EVENT_RULE_3, 2);
    expect_choice(&choice, FILM, FILM, 0);
    choice = choose(&bench, EVENT_RULE_3, 2);
    expect_choice(&choice, FILM, GAME, 3);
}
END_TEST

/* With a period of two slots there is just enough time for both: >= is true, the printed > is not. */
START_TEST(rule_4_makes_a_process_wait_that_can)
{
    struct bench bench;
    set_up(&bench, 2, false);
    event_raise(&bench.events, GAME, 0, 0);
    struct event_choice choice = choose(&bench, EVENT_RULES_ALL & ~EVENT_RULE_4, 0);
    expect_choice(&choice, FILM, FILM, 0);
    choice = choose(&bench, EVENT_RULE_4 | EVENT_RULE_4_STRICT, 0);
    expect_choice(&choice, FILM, FILM, 0);
    choice = choose(&bench, EVENT_RULE_4, 0);
    expect_choice(&choice, FILM, GAME, 4);
    event_account(&bench.dwcs, &choice, SLOT);
    ck_assert_int_eq(run_slot(&bench, EVENT_RULE_4, 1), FILM);
    dwcs_advance(&bench.dwcs, 2 * SLOT);
    ck_assert_int_eq(bench.dwcs.process[FILM].counts.served, 1);
    ck_assert_int_eq(bench.dwcs.process[GAME].counts.served, 1);
}
END_TEST

START_TEST(rule_4_makes_nobody_wait_who_would_miss_its_deadline)
{
    struct bench bench;
    set_up(&bench, 3, false);
    event_raise(&bench.events, GAME, 0, 0);
    struct event_choice choice = choose(&bench, EVENT_RULE_4, 1);
    expect_choice(&choice, FILM, GAME, 4);
    event_raise(&bench.events, GAME, 0, 0);
    choice = choose(&bench, EVENT_RULE_4, 2);
    expect_choice(&choice, FILM, FILM, 0);
}
END_TEST

/* Two processes may miss nothing and share both slots of the period. The third may miss everything, but has an event. */
static void set_up_full(struct bench *bench, int period)
{
    dwcs_init(&bench->dwcs);
    event_queue_init(&bench->events);
    add(bench, 0, 0, 1, period, false);
    add(bench, 1, 0, 1, period, false);
    add(bench, 2, 1, 1, period, false);
    event_raise(&bench->events, 2, 0, 0);
}

START_TEST(rule_4_can_break_the_guarantee_of_a_third_process)
{
    struct bench bench;
    set_up_full(&bench, 2);
    ck_assert_double_eq_tol(dwcs_utilisation(&bench.dwcs), 1, 1e-12);
    ck_assert_int_eq(run_slot(&bench, EVENT_RULE_4, 0), 2);
    ck_assert_int_eq(run_slot(&bench, EVENT_RULE_4, 1), 0);
    dwcs_advance(&bench.dwcs, 2 * SLOT);
    ck_assert_int_eq(bench.dwcs.process[1].counts.violations, 1);
}
END_TEST

START_TEST(safe_rule_4_acts_only_if_there_is_time_for_all)
{
    struct bench bench;
    set_up_full(&bench, 2);
    ck_assert_int_eq(run_slot(&bench, EVENT_RULE_4 | EVENT_RULE_4_SAFE, 0), 0);
    ck_assert_int_eq(run_slot(&bench, EVENT_RULE_4 | EVENT_RULE_4_SAFE, 1), 1);
    ck_assert_int_eq(bench.events.count, 1);

    set_up_full(&bench, 3); /* there is time for all */
    ck_assert_int_eq(run_slot(&bench, EVENT_RULE_4 | EVENT_RULE_4_SAFE, 0), 2);
    ck_assert_int_eq(run_slot(&bench, EVENT_RULE_4 | EVENT_RULE_4_SAFE, 1), 0);
    ck_assert_int_eq(run_slot(&bench, EVENT_RULE_4 | EVENT_RULE_4_SAFE, 2), 1);
}
END_TEST

START_TEST(rule_4_needs_equal_deadlines_and_a_sink_without_service)
{
    struct bench bench;
    set_up(&bench, 4, false);
    add(&bench, 3, 0, 1, 5, false);
    event_raise(&bench.events, 3, 0, 0);
    struct event_choice choice = choose(&bench, EVENT_RULE_4, 0);
    expect_choice(&choice, FILM, FILM, 0);
    event_forget(&bench.events, 3);
    dwcs_run(&bench.dwcs, GAME, SLOT);
    event_raise(&bench.events, GAME, 0, 0);
    choice = choose(&bench, EVENT_RULE_4, 0);
    expect_choice(&choice, FILM, FILM, 0);
}
END_TEST

/* The server has C = 1 in T = 2 and is selected in slot 0. */
static int add_server(struct bench *bench)
{
    static const struct dwcs_server_options options = {.base_ns = SLOT};
    ck_assert_int_eq(dwcs_server_update(&bench->dwcs, &options, 0, 0), 0);
    return dwcs_server_find(&bench->dwcs);
}

START_TEST(rule_5_gives_the_servers_place_to_the_sink)
{
    struct bench bench;
    set_up(&bench, 3, false);
    const int server = add_server(&bench);
    event_raise(&bench.events, GAME, 0, 0);
    struct event_choice choice = choose(&bench, EVENT_RULES_ALL & ~EVENT_RULE_5, 0);
    expect_choice(&choice, server, SHELL, 0);
    choice = choose(&bench, EVENT_RULE_5, 0);
    expect_choice(&choice, server, GAME, 5);
    event_account(&bench.dwcs, &choice, SLOT);
    ck_assert(bench.dwcs.process[server].is_served);
    ck_assert(bench.dwcs.process[GAME].is_served);
}
END_TEST

START_TEST(best_effort_process_has_the_servers_place_without_events)
{
    struct bench bench;
    set_up(&bench, 3, false);
    const int server = add_server(&bench);
    const struct event_choice choice = choose(&bench, EVENT_RULES_ALL, 0);
    expect_choice(&choice, server, SHELL, 0);
    event_account(&bench.dwcs, &choice, SLOT);
    ck_assert(bench.dwcs.process[server].is_served);
    ck_assert_int_eq(run_slot(&bench, EVENT_RULES_ALL, 1), FILM);
}
END_TEST

START_TEST(server_that_nobody_can_use_keeps_its_service)
{
    struct bench bench;
    set_up(&bench, 3, false);
    const int server = add_server(&bench);
    dwcs_block(&bench.dwcs, SHELL);
    const struct event_choice choice = choose(&bench, EVENT_RULES_ALL, 0);
    expect_choice(&choice, FILM, FILM, 0);
    event_account(&bench.dwcs, &choice, SLOT);
    ck_assert(!bench.dwcs.process[server].is_served);
}
END_TEST

START_TEST(event_of_a_sleeping_process_waits_and_lets_the_next_one_pass)
{
    struct bench bench;
    set_up(&bench, 4, false);
    dwcs_block(&bench.dwcs, GAME);
    event_raise(&bench.events, GAME, 0, 1);
    event_raise(&bench.events, FILM, 0, 2);
    run_slot(&bench, 0, 0);
    struct event_choice choice = choose(&bench, EVENT_RULE_2, 1);
    expect_choice(&choice, SHELL, FILM, 2);
    ck_assert_int_eq(choice.data, 2);
    choice = choose(&bench, EVENT_RULE_2, 1);
    expect_choice(&choice, SHELL, SHELL, 0);
    ck_assert_int_eq(bench.events.count, 1);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        rule_1_delivers_to_the_selected_process,
        rule_1_delivers_behind_the_event_of_another_process,
        rule_1_looks_at_the_first_event_only_if_asked_to,
        event_of_the_future_waits,
        rule_2_puts_the_sink_before_best_effort_processes,
        idle_cpu_counts_as_best_effort,
        rule_3_puts_the_sink_before_a_process_that_has_had_its_service,
        rule_4_makes_a_process_wait_that_can,
        rule_4_makes_nobody_wait_who_would_miss_its_deadline,
        rule_4_can_break_the_guarantee_of_a_third_process,
        safe_rule_4_acts_only_if_there_is_time_for_all,
        rule_4_needs_equal_deadlines_and_a_sink_without_service,
        rule_5_gives_the_servers_place_to_the_sink,
        best_effort_process_has_the_servers_place_without_events,
        server_that_nobody_can_use_keeps_its_service,
        event_of_a_sleeping_process_waits_and_lets_the_next_one_pass,
        NULL,
    };
    return suite_run("event_rules", SUITE_TIMEOUT_DEFAULT, tests);
}
