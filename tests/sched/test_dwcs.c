/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rules of DWCS one by one. Not covered: whole schedules (test_slot_sim.c) and the guarantee (test_dwcs_guarantee.c). */
#include "dwcs.h"

#include <errno.h>

#include "suite.h"

#define SLOT INT64_C(10000000)

/* Times are in slots. */
static struct dwcs_params params_of(int x, int y, int period, int service)
{
    return (struct dwcs_params){.period_ns = period * SLOT, .service_ns = service * SLOT, .x = x, .y = y};
}

/* Adds a process with C = 1, and expects it to get this id. */
static void add(struct dwcs *dwcs, int id, int x, int y, int period)
{
    const struct dwcs_params params = params_of(x, y, period, 1);
    ck_assert_int_eq(dwcs_add(dwcs, &params, 0), id);
}

/* Runs whoever is selected for a slot. */
static int run_slot(struct dwcs *dwcs, int slot)
{
    dwcs_advance(dwcs, slot * SLOT);
    const int id = dwcs_select(dwcs);
    if (id != DWCS_NONE)
        dwcs_run(dwcs, id, SLOT);
    return id;
}

static void expect_window(const struct dwcs *dwcs, int id, int x, int y)
{
    ck_assert_int_eq(dwcs->process[id].x_now, x);
    ck_assert_int_eq(dwcs->process[id].y_now, y);
}

START_TEST(earliest_deadline_is_first)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    add(&dwcs, 0, 0, 1, 3);
    add(&dwcs, 1, 1, 2, 2);
    ck_assert_int_eq(dwcs_select(&dwcs), 1);
}
END_TEST

START_TEST(tightest_window_is_first_among_equal_deadlines)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    add(&dwcs, 0, 1, 2, 3);
    add(&dwcs, 1, 1, 4, 3);
    ck_assert_int_eq(dwcs_select(&dwcs), 1);
    add(&dwcs, 2, 0, 1, 3);
    ck_assert_int_eq(dwcs_select(&dwcs), 2);
}
END_TEST

START_TEST(highest_denominator_is_first_among_zero_windows)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    add(&dwcs, 0, 0, 2, 3);
    add(&dwcs, 1, 0, 5, 3);
    add(&dwcs, 2, 0, 4, 3);
    ck_assert_int_eq(dwcs_select(&dwcs), 1);
}
END_TEST

START_TEST(lowest_numerator_is_first_among_equal_windows)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    add(&dwcs, 0, 2, 4, 3);
    add(&dwcs, 1, 1, 2, 3);
    add(&dwcs, 2, 3, 6, 3);
    ck_assert_int_eq(dwcs_select(&dwcs), 1);
}
END_TEST

START_TEST(first_registered_is_first_among_equals)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    add(&dwcs, 0, 1, 2, 3);
    add(&dwcs, 1, 1, 2, 3);
    ck_assert_int_eq(dwcs_select(&dwcs), 0);
}
END_TEST

/* 1 is served in slot 0 and has its next deadline from then on; 0 gets the same deadline when it misses its own. */
START_TEST(served_process_has_its_next_deadline_before_one_that_misses)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    add(&dwcs, 0, 1, 1, 1);
    add(&dwcs, 1, 1, 2, 1);
    ck_assert_int_eq(run_slot(&dwcs, 0), 1);
    dwcs_advance(&dwcs, SLOT);
    expect_window(&dwcs, 0, 1, 1);
    expect_window(&dwcs, 1, 1, 1);
    ck_assert_int_eq(dwcs_select(&dwcs), 1);
}
END_TEST

START_TEST(served_periods_use_the_window_up)
{
    static const int y_after[] = {2, 1, 3, 2};
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    add(&dwcs, 0, 1, 3, 1);
    for (int slot = 0; slot < 4; slot++) {
        ck_assert_int_eq(run_slot(&dwcs, slot), 0);
        expect_window(&dwcs, 0, 1, y_after[slot]);
    }
    ck_assert_int_eq(dwcs.process[0].counts.served, 4);
}
END_TEST

/* Rule b, as we read it: a miss that the window allows takes one from both. Only a violation makes y' grow. */
START_TEST(misses_tighten_the_window)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    add(&dwcs, 0, 1, 3, 1);
    dwcs_advance(&dwcs, 1 * SLOT);
    expect_window(&dwcs, 0, 0, 2);
    ck_assert_int_eq(dwcs.process[0].counts.violations, 0);
    dwcs_advance(&dwcs, 2 * SLOT);
    expect_window(&dwcs, 0, 0, 3);
    ck_assert_int_eq(dwcs.process[0].counts.violations, 1);
    ck_assert_int_eq(dwcs.process[0].counts.missed, 2);
    for (int slot = 2; slot < 5; slot++)
        ck_assert_int_eq(run_slot(&dwcs, slot), 0);
    expect_window(&dwcs, 0, 1, 3);
}
END_TEST

START_TEST(window_is_renewed_when_its_last_period_is_missed)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    add(&dwcs, 0, 1, 2, 1);
    ck_assert_int_eq(run_slot(&dwcs, 0), 0);
    expect_window(&dwcs, 0, 1, 1);
    dwcs_advance(&dwcs, 2 * SLOT);
    expect_window(&dwcs, 0, 1, 2);
    ck_assert_int_eq(dwcs.process[0].counts.violations, 0);
}
END_TEST

START_TEST(service_counts_when_all_of_it_was_given)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    const struct dwcs_params params = params_of(1, 3, 4, 2);
    ck_assert_int_eq(dwcs_add(&dwcs, &params, 0), 0);
    run_slot(&dwcs, 0);
    expect_window(&dwcs, 0, 1, 3);
    run_slot(&dwcs, 1);
    expect_window(&dwcs, 0, 1, 2);
    dwcs_advance(&dwcs, 4 * SLOT);
    run_slot(&dwcs, 4);
    dwcs_advance(&dwcs, 8 * SLOT);
    expect_window(&dwcs, 0, 0, 1);
}
END_TEST

START_TEST(served_process_leaves_until_its_period_ends)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    add(&dwcs, 0, 1, 2, 3);
    ck_assert_int_eq(run_slot(&dwcs, 0), 0);
    ck_assert_int_eq(run_slot(&dwcs, 1), DWCS_NONE);
    ck_assert_int_eq(run_slot(&dwcs, 2), DWCS_NONE);
    ck_assert_int_eq(run_slot(&dwcs, 3), 0);
}
END_TEST

START_TEST(work_conserving_process_runs_on_after_the_others_and_keeps_its_window)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    struct dwcs_params params = params_of(0, 1, 3, 1);
    params.is_work_conserving = true;
    ck_assert_int_eq(dwcs_add(&dwcs, &params, 0), 0);
    add(&dwcs, 1, 1, 2, 3);
    ck_assert_int_eq(dwcs_add_best_effort(&dwcs), 2);
    ck_assert_int_eq(run_slot(&dwcs, 0), 0);
    ck_assert_int_eq(run_slot(&dwcs, 1), 1);
    ck_assert_int_eq(run_slot(&dwcs, 2), 0);
    expect_window(&dwcs, 0, 0, 1);
    ck_assert_int_eq(dwcs.process[0].counts.served, 1);
}
END_TEST

/* 0 has had C and has the earlier deadline; 1 has had nothing. */
START_TEST(process_that_keeps_its_rank_competes_by_its_deadline)
{
    for (int keeps_rank = 0; keeps_rank < 2; keeps_rank++) {
        struct dwcs dwcs;
        dwcs_init(&dwcs);
        struct dwcs_params params = params_of(0, 1, 3, 1);
        params.is_work_conserving = true;
        params.keeps_rank = keeps_rank;
        ck_assert_int_eq(dwcs_add(&dwcs, &params, 0), 0);
        add(&dwcs, 1, 0, 1, 5);
        ck_assert_int_eq(run_slot(&dwcs, 0), 0);
        ck_assert_int_eq(run_slot(&dwcs, 1), keeps_rank ? 0 : 1);
        ck_assert_int_eq(dwcs.process[0].counts.served, 1);
    }
}
END_TEST

START_TEST(process_that_keeps_its_rank_but_conserves_no_work_leaves)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    struct dwcs_params params = params_of(0, 1, 3, 1);
    params.keeps_rank = true;
    ck_assert_int_eq(dwcs_add(&dwcs, &params, 0), 0);
    ck_assert_int_eq(run_slot(&dwcs, 0), 0);
    ck_assert_int_eq(run_slot(&dwcs, 1), DWCS_NONE);
}
END_TEST

START_TEST(best_effort_processes_take_turns_with_the_rest)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    ck_assert_int_eq(dwcs_add_best_effort(&dwcs), 0);
    ck_assert_int_eq(dwcs_add_best_effort(&dwcs), 1);
    add(&dwcs, 2, 0, 1, 3);
    static const int expected[] = {2, 0, 1, 2, 0, 1};
    for (int slot = 0; slot < 6; slot++)
        ck_assert_int_eq(run_slot(&dwcs, slot), expected[slot]);
}
END_TEST

START_TEST(without_window_constraint_misses_are_no_violations)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    add(&dwcs, 0, 0, 0, 1);
    dwcs_advance(&dwcs, 3 * SLOT);
    ck_assert_int_eq(dwcs.process[0].counts.missed, 3);
    ck_assert_int_eq(dwcs.process[0].counts.violations, 0);
    ck_assert_int_eq(run_slot(&dwcs, 3), 0);
    expect_window(&dwcs, 0, 0, 0);
}
END_TEST

START_TEST(sleeping_process_gets_a_period_when_it_wakes)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    add(&dwcs, 0, 1, 3, 4);
    dwcs_block(&dwcs, 0);
    dwcs_advance(&dwcs, 100 * SLOT);
    ck_assert_int_eq(dwcs_select(&dwcs), DWCS_NONE);
    dwcs_wake(&dwcs, 0, 101 * SLOT);
    ck_assert_int_eq(dwcs_select(&dwcs), 0);
    ck_assert_int_eq(dwcs.process[0].deadline_ns, 105 * SLOT);
    expect_window(&dwcs, 0, 1, 3);
    ck_assert_int_eq(dwcs.process[0].counts.missed, 0);
}
END_TEST

START_TEST(periods_of_a_sleeping_process_go_on_if_it_keeps_them)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    struct dwcs_params params = params_of(1, 3, 4, 1);
    params.keeps_periods = true;
    ck_assert_int_eq(dwcs_add(&dwcs, &params, 0), 0);
    dwcs_block(&dwcs, 0);
    dwcs_advance(&dwcs, 100 * SLOT);
    ck_assert_int_eq(dwcs_select(&dwcs), DWCS_NONE);
    dwcs_wake(&dwcs, 0, 101 * SLOT);
    ck_assert_int_eq(dwcs_select(&dwcs), 0);
    ck_assert_int_eq(dwcs.process[0].deadline_ns, 104 * SLOT);
    expect_window(&dwcs, 0, 1, 3);
    ck_assert_int_eq(dwcs.process[0].counts.missed, 0);
}
END_TEST

START_TEST(process_that_wakes_within_its_period_keeps_it)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    add(&dwcs, 0, 1, 3, 4);
    run_slot(&dwcs, 0);
    dwcs_block(&dwcs, 0);
    dwcs_wake(&dwcs, 0, 2 * SLOT);
    ck_assert_int_eq(dwcs.process[0].deadline_ns, 4 * SLOT);
    ck_assert_int_eq(dwcs_select(&dwcs), DWCS_NONE);
}
END_TEST

START_TEST(process_that_wanted_less_has_missed_nothing)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    const struct dwcs_params params = params_of(1, 3, 4, 2);
    ck_assert_int_eq(dwcs_add(&dwcs, &params, 0), 0);
    run_slot(&dwcs, 0);
    dwcs_block(&dwcs, 0);
    dwcs_advance(&dwcs, 4 * SLOT);
    ck_assert_int_eq(dwcs.process[0].counts.missed, 0);
    ck_assert_int_eq(dwcs.process[0].counts.served, 1);
    expect_window(&dwcs, 0, 1, 2);
}
END_TEST

START_TEST(wrong_attributes_are_refused)
{
    const struct dwcs_params wrong[] = {
        params_of(0, 1, 0, 0), params_of(0, 1, 1, 0), params_of(0, 1, 1, 2), params_of(0, 1, -1, -1), params_of(-1, 1, 2, 1),
        params_of(2, 1, 2, 1), params_of(1, 0, 2, 1), params_of(0, DWCS_Y_MAX + 1, 2, 1),
    };
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ck_assert_int_eq(dwcs_add(&dwcs, &wrong[i], 0), -EINVAL);
}
END_TEST

START_TEST(full_queue_takes_a_process_when_another_has_left)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    for (int id = 0; id < DWCS_CAPACITY; id++)
        add(&dwcs, id, 1, 2, 3);
    const struct dwcs_params params = params_of(1, 2, 3, 1);
    ck_assert_int_eq(dwcs_add(&dwcs, &params, 0), -ENOSPC);
    ck_assert_int_eq(dwcs_add_best_effort(&dwcs), -ENOSPC);
    dwcs_remove(&dwcs, 7);
    ck_assert_int_eq(dwcs_add(&dwcs, &params, 0), 7);
    ck_assert_int_eq(dwcs_select(&dwcs), 0);
}
END_TEST

START_TEST(utilisation_is_what_windows_make_necessary)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    add(&dwcs, 0, 1, 2, 4);
    add(&dwcs, 1, 1, 4, 2);
    dwcs_add_best_effort(&dwcs);
    ck_assert_double_eq_tol(dwcs_utilisation(&dwcs), 0.5, 1e-12);
    add(&dwcs, 3, 0, 0, 4);
    ck_assert_double_eq_tol(dwcs_utilisation(&dwcs), 0.75, 1e-12);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        earliest_deadline_is_first,
        tightest_window_is_first_among_equal_deadlines,
        highest_denominator_is_first_among_zero_windows,
        lowest_numerator_is_first_among_equal_windows,
        first_registered_is_first_among_equals,
        served_process_has_its_next_deadline_before_one_that_misses,
        served_periods_use_the_window_up,
        misses_tighten_the_window,
        window_is_renewed_when_its_last_period_is_missed,
        service_counts_when_all_of_it_was_given,
        served_process_leaves_until_its_period_ends,
        work_conserving_process_runs_on_after_the_others_and_keeps_its_window,
        process_that_keeps_its_rank_competes_by_its_deadline,
        process_that_keeps_its_rank_but_conserves_no_work_leaves,
        best_effort_processes_take_turns_with_the_rest,
        without_window_constraint_misses_are_no_violations,
        sleeping_process_gets_a_period_when_it_wakes,
        periods_of_a_sleeping_process_go_on_if_it_keeps_them,
        process_that_wakes_within_its_period_keeps_it,
        process_that_wanted_less_has_missed_nothing,
        wrong_attributes_are_refused,
        full_queue_takes_a_process_when_another_has_left,
        utilisation_is_what_windows_make_necessary,
        NULL,
    };
    return suite_run("dwcs", SUITE_TIMEOUT_DEFAULT, tests);
}
