/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * DWCS's guarantee where it holds (dwcs.h has the proof): random sets of processes with equal periods and equal y, aligned
 * windows, C of one slot, without events and with them. Then examples of where it ends; test_event_rules.c has another. Not
 * covered: C of several slots, the task server.
 *
 * DLEX_TEST_SETS is the number of random sets (100000), DLEX_TEST_SEED selects them.
 */
#include "event_rules.h"

#include <inttypes.h>
#include <stdlib.h>

#include "suite.h"

#define SLOT INT64_C(10000000)

enum {
    PERIODS = 36, /* three windows at least */
    Y_MAX = 12,
    TRIES = 24, /* of adding a process to a set */
    TIMEOUT_S = 600,
};

struct random_set {
    struct dwcs dwcs;
    struct event_queue events;
    int slots; /* of the common period */
    int y;     /* common */
    int count; /* of processes, with the ids 0 to count - 1 */
    int64_t served_before[DWCS_CAPACITY]; /* the current window */
};

/* xorshift64 by George Marsaglia. */
static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int up_to(uint64_t *state, int greatest)
{
    return (int)((next(state) >> 16) % (uint64_t)(greatest + 1));
}

/* Adds random processes as long as the utilisation stays at most 1. */
static void make_set(struct random_set *set, uint64_t *state)
{
    *set = (struct random_set){.slots = 1 + up_to(state, 4), .y = 1 + up_to(state, Y_MAX - 1)};
    dwcs_init(&set->dwcs);
    event_queue_init(&set->events);
    int left = set->slots * set->y; /* places in a window */
    for (int i = 0; i < TRIES; i++) {
        const int need = up_to(state, set->y);
        if (need > left)
            continue;
        const struct dwcs_params params = {
            .period_ns = set->slots * SLOT, .service_ns = SLOT, .x = set->y - need, .y = set->y,
            .is_work_conserving = up_to(state, 1),
        };
        const int id = dwcs_add(&set->dwcs, &params, 0);
        suite_check(id == set->count);
        set->count++;
        left -= need;
    }
}

static int run_slot(struct dwcs *dwcs, int slot)
{
    dwcs_advance(dwcs, slot * SLOT);
    const int id = dwcs_select(dwcs);
    if (id != DWCS_NONE)
        dwcs_run(dwcs, id, SLOT);
    return id;
}

/* Checks the windows if they end with this period, which is over. */
static void check_windows(struct random_set *set, int period, int64_t number)
{
    if ((period + 1) % set->y)
        return;
    for (int id = 0; id < set->count; id++) {
        const struct dwcs_process *const process = &set->dwcs.process[id];
        const int64_t served = process->counts.served - set->served_before[id];
        if (served < process->params.y - process->params.x)
            ck_abort_msg("set %" PRId64 ": process %d (%d/%d) had service in %" PRId64 " periods of the window ending with period %d",
                         number, id, process->params.x, process->params.y, served, period);
        suite_check(process->counts.violations == 0);
        set->served_before[id] = process->counts.served;
    }
}

/* An event for some process in one slot of three, on average. */
static void raise_events(struct random_set *set, int slot, uint64_t *state)
{
    if (set->count > 0 && up_to(state, 2) == 0)
        event_raise(&set->events, up_to(state, set->count - 1), slot * SLOT, 0); /* a full queue refuses */
}

/* Returns how many events made another process run. */
static int run_period(struct random_set *set, int period, unsigned rules, uint64_t *state)
{
    int swaps = 0;
    for (int i = 0; i < set->slots; i++) {
        const int slot = period * set->slots + i;
        if (rules)
            raise_events(set, slot, state);
        dwcs_advance(&set->dwcs, slot * SLOT);
        const struct event_choice choice = event_choose(&set->dwcs, &set->events, rules, slot * SLOT);
        event_account(&set->dwcs, &choice, SLOT);
        swaps += event_is_swap(&choice);
    }
    dwcs_advance(&set->dwcs, (period + 1) * set->slots * SLOT);
    return swaps;
}

static int check_set(struct random_set *set, int64_t number, unsigned rules, uint64_t *state)
{
    int swaps = 0;
    for (int period = 0; period < PERIODS; period++) {
        swaps += run_period(set, period, rules, state);
        check_windows(set, period, number);
    }
    return swaps;
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *const text = getenv(name);
    return text ? strtoull(text, NULL, 0) : otherwise;
}

/* Returns how many events made another process run in all sets. */
static int64_t check_sets(unsigned rules)
{
    const int64_t sets = (int64_t)number_from("DLEX_TEST_SETS", 100000);
    uint64_t state = number_from("DLEX_TEST_SEED", 1) * 2 + 1; /* never 0 */
    static struct random_set set;
    double utilisation = 0;
    int64_t swaps = 0;
    for (int64_t i = 0; i < sets; i++) {
        make_set(&set, &state);
        utilisation += dwcs_utilisation(&set.dwcs);
        swaps += check_set(&set, i, rules, &state);
    }
    /* Sets with little to do would prove little. */
    ck_assert_double_ge(utilisation / (double)sets, 0.8);
    return swaps;
}

START_TEST(windows_of_equal_periods_and_equal_lengths_are_kept)
{
    ck_assert_int_eq(check_sets(0), 0);
}
END_TEST

/* Rule 4 as in the seed does not keep them; see test_event_rules.c. */
START_TEST(events_keep_them_if_rule_4_looks_at_all_processes)
{
    ck_assert_int_gt(check_sets(EVENT_RULE_1 | EVENT_RULE_2 | EVENT_RULE_3 | EVENT_RULE_4 | EVENT_RULE_4_SAFE), 0);
}
END_TEST

static void add(struct dwcs *dwcs, int x, int y, int period)
{
    const struct dwcs_params params = {.period_ns = period * SLOT, .service_ns = SLOT, .x = x, .y = y};
    ck_assert_int_ge(dwcs_add(dwcs, &params, 0), 0);
}

static void expect_schedule(struct dwcs *dwcs, const int *expected, int slots)
{
    for (int slot = 0; slot < slots; slot++)
        ck_assert_int_eq(run_slot(dwcs, slot), expected[slot]);
    dwcs_advance(dwcs, slots * SLOT);
}

/* Two processes that may miss one of two periods: 0 misses the second one and the third. */
START_TEST(windows_that_begin_elsewhere_are_not_kept)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    add(&dwcs, 1, 2, 1);
    add(&dwcs, 1, 2, 1);
    expect_schedule(&dwcs, (const int[]){0, 1, 1, 0}, 4);
    ck_assert_int_eq(dwcs.process[0].counts.violations, 0);
    ck_assert_int_eq(dwcs.process[1].counts.violations, 0);
}
END_TEST

/*
 * The utilisation is 1, and each period has one place. Process 0, which needs half of its window, runs as long as its window is
 * tighter than the others'. Then two places are left for three that need one each, although there were six.
 */
START_TEST(windows_of_different_lengths_are_not_kept)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    add(&dwcs, 7, 14, 1);
    for (int i = 0; i < 3; i++)
        add(&dwcs, 5, 6, 1);
    ck_assert_double_eq_tol(dwcs_utilisation(&dwcs), 1, 1e-12);
    expect_schedule(&dwcs, (const int[]){0, 0, 0, 0, 1, 2}, 6);
    ck_assert_int_eq(dwcs.process[3].counts.violations, 1);
}
END_TEST

/* The utilisation is 1, but with different periods the guarantee does not hold. */
START_TEST(different_periods_have_no_guarantee)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    add(&dwcs, 1, 2, 3);
    add(&dwcs, 0, 1, 3);
    add(&dwcs, 1, 2, 1);
    ck_assert_double_eq_tol(dwcs_utilisation(&dwcs), 1, 1e-12);
    expect_schedule(&dwcs, (const int[]){2, 2, 1, 2, 2, 1}, 6);
    ck_assert_int_eq(dwcs.process[0].counts.violations, 1);
    ck_assert_int_eq(dwcs.process[1].counts.violations, 0);
    ck_assert_int_eq(dwcs.process[2].counts.violations, 0);
}
END_TEST

/*
 * The utilisation is 0.8. Process 3 needs one of ten periods. It sleeps past the end of one and wakes in the middle of the others'
 * period, where its own then begin. From there on its deadline is the first one in every second slot, and it runs although it needs
 * not. The others have one place in each period, and need one and a half.
 */
START_TEST(process_that_sleeps_past_the_end_of_its_period_takes_the_windows_of_others)
{
    struct dwcs dwcs;
    dwcs_init(&dwcs);
    for (int i = 0; i < 3; i++)
        add(&dwcs, 5, 10, 2);
    add(&dwcs, 9, 10, 2);
    ck_assert_double_eq_tol(dwcs_utilisation(&dwcs), 0.8, 1e-12);
    dwcs_block(&dwcs, 3);
    for (int slot = 0; slot < 3; slot++)
        ck_assert_int_ne(run_slot(&dwcs, slot), 3);
    dwcs_wake(&dwcs, 3, 3 * SLOT);
    for (int slot = 3; slot < 43; slot++)
        ck_assert_int_eq(run_slot(&dwcs, slot) == 3, slot % 2 == 0);
    int64_t violations = 0;
    for (int i = 0; i < 3; i++)
        violations += dwcs.process[i].counts.violations;
    ck_assert_int_gt(violations, 5);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        windows_of_equal_periods_and_equal_lengths_are_kept,
        events_keep_them_if_rule_4_looks_at_all_processes,
        windows_that_begin_elsewhere_are_not_kept,
        windows_of_different_lengths_are_not_kept,
        different_periods_have_no_guarantee,
        process_that_sleeps_past_the_end_of_its_period_takes_the_windows_of_others,
        NULL,
    };
    return suite_run("dwcs_guarantee", TIMEOUT_S, tests);
}
