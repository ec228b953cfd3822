/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dwcs.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>

enum group { GROUP_DUE, GROUP_EXTRA, GROUP_BEST_EFFORT, GROUP_NONE };

void dwcs_init(struct dwcs *dwcs)
{
    *dwcs = (struct dwcs){0};
}

static struct dwcs_process *process_of(struct dwcs *dwcs, int id)
{
    assert(id >= 0 && id < DWCS_CAPACITY && dwcs->process[id].kind != DWCS_FREE);
    return &dwcs->process[id];
}

static bool has_valid_params(const struct dwcs_params *params)
{
    return params->service_ns > 0 && params->service_ns <= params->period_ns && params->x >= 0 && params->x <= params->y &&
           params->y <= DWCS_Y_MAX;
}

static void begin_period(struct dwcs *dwcs, struct dwcs_process *process, int64_t now_ns)
{
    process->deadline_ns = now_ns + process->params.period_ns;
    process->received_ns = 0;
    process->is_served = false;
    process->turn = dwcs->turns++;
}

static int free_id(const struct dwcs *dwcs)
{
    for (int id = 0; id < DWCS_CAPACITY; id++)
        if (dwcs->process[id].kind == DWCS_FREE)
            return id;
    return -ENOSPC;
}

int dwcs_add_kind(struct dwcs *dwcs, enum dwcs_kind kind, const struct dwcs_params *params, int64_t now_ns)
{
    const int id = free_id(dwcs);
    if (id < 0)
        return id;
    struct dwcs_process *const process = &dwcs->process[id];
    *process = (struct dwcs_process){
        .kind = kind, .params = *params, .x_now = params->x, .y_now = params->y, .is_runnable = true,
    };
    begin_period(dwcs, process, now_ns);
    return id;
}

int dwcs_add(struct dwcs *dwcs, const struct dwcs_params *params, int64_t now_ns)
{
    return has_valid_params(params) ? dwcs_add_kind(dwcs, DWCS_REAL_TIME, params, now_ns) : -EINVAL;
}

int dwcs_add_best_effort(struct dwcs *dwcs)
{
    const int id = dwcs_add_kind(dwcs, DWCS_BEST_EFFORT, &(struct dwcs_params){0}, 0);
    if (id >= 0)
        dwcs->process[id].deadline_ns = DWCS_NO_DEADLINE;
    return id;
}

void dwcs_remove(struct dwcs *dwcs, int id)
{
    *process_of(dwcs, id) = (struct dwcs_process){0};
}

/* A new window begins when the last one is used up. */
static void renew_window(struct dwcs_process *process)
{
    if (process->x_now == 0 && process->y_now == 0) {
        process->x_now = process->params.x;
        process->y_now = process->params.y;
    }
}

/* Rule a: one period of the window is over, and no loss was needed. */
static void relax(struct dwcs_process *process)
{
    if (process->y_now > process->x_now) {
        process->y_now--;
    } else if (process->x_now > 0) {
        process->x_now--;
        process->y_now--;
    }
    renew_window(process);
}

/*
 * Rule b: one period of the window is over, and one loss is used up. If none was left, that is a violation, and y' grows
 * instead: the process owes one served period more. The seed prints Rule b as three conditions in a row. They can be read
 * so that y' grows as well when a loss was left; then the guarantee is false even for equal periods and windows.
 */
static void tighten(struct dwcs_process *process)
{
    if (process->params.y == 0)
        return;
    if (process->x_now > 0) {
        process->x_now--;
        process->y_now--;
        renew_window(process);
    } else {
        process->counts.violations++;
        if (process->y_now < INT32_MAX)
            process->y_now++;
    }
}

/* Takes the window to the end of a period in which the process had less than C. */
static void end_unserved(struct dwcs_process *process)
{
    if (process->is_runnable) {
        process->counts.missed++;
        tighten(process);
    } else if (process->received_ns > 0) {
        process->counts.served++;
        relax(process);
    }
}

static void end_period(struct dwcs *dwcs, struct dwcs_process *process)
{
    const uint64_t turn = process->turn;
    const bool was_served = process->is_served;
    if (!was_served)
        end_unserved(process);
    begin_period(dwcs, process, process->deadline_ns);
    if (was_served)
        process->turn = turn; /* it has had this turn since it was served */
    if (!process->is_runnable && !process->params.keeps_periods)
        process->deadline_ns = DWCS_NO_DEADLINE;
}

/* Returns the process whose period ends first, if it ends by now_ns, or NULL. */
static struct dwcs_process *first_to_end(struct dwcs *dwcs, int64_t now_ns)
{
    struct dwcs_process *first = NULL;
    for (int id = 0; id < DWCS_CAPACITY; id++) {
        struct dwcs_process *const process = &dwcs->process[id];
        if (process->kind != DWCS_FREE && process->deadline_ns <= now_ns && (!first || process->deadline_ns < first->deadline_ns))
            first = process;
    }
    return first;
}

void dwcs_advance(struct dwcs *dwcs, int64_t now_ns)
{
    for (struct dwcs_process *process; (process = first_to_end(dwcs, now_ns));)
        end_period(dwcs, process);
}

void dwcs_wake(struct dwcs *dwcs, int id, int64_t now_ns)
{
    struct dwcs_process *const process = process_of(dwcs, id);
    dwcs_advance(dwcs, now_ns);
    if (process->is_runnable)
        return;
    process->is_runnable = true;
    if (process->kind == DWCS_BEST_EFFORT)
        process->turn = dwcs->turns++;
    else if (process->deadline_ns == DWCS_NO_DEADLINE)
        begin_period(dwcs, process, now_ns);
}

void dwcs_block(struct dwcs *dwcs, int id)
{
    process_of(dwcs, id)->is_runnable = false;
}

static enum group group_of(const struct dwcs_process *process)
{
    if (process->kind == DWCS_FREE || !process->is_runnable)
        return GROUP_NONE;
    if (process->kind == DWCS_BEST_EFFORT)
        return GROUP_BEST_EFFORT;
    if (!process->is_served)
        return GROUP_DUE;
    if (!process->params.is_work_conserving)
        return GROUP_NONE;
    return process->params.keeps_rank ? GROUP_DUE : GROUP_EXTRA;
}

/* Compares current windows, lines 2 to 4 of Table 1. Returns < 0 if a is tighter, > 0 if b is, 0 if they are equal. */
static int compare_windows(const struct dwcs_process *a, const struct dwcs_process *b)
{
    if (a->x_now == 0 || b->x_now == 0) {
        if (a->x_now != b->x_now)
            return a->x_now == 0 ? -1 : 1;
        return (a->y_now < b->y_now) - (a->y_now > b->y_now);
    }
    const int64_t left = (int64_t)a->x_now * b->y_now;
    const int64_t right = (int64_t)b->x_now * a->y_now;
    if (left != right)
        return left < right ? -1 : 1;
    return (a->x_now > b->x_now) - (a->x_now < b->x_now);
}

static bool precedes(const struct dwcs_process *a, const struct dwcs_process *b)
{
    const enum group of_a = group_of(a);
    const enum group of_b = group_of(b);
    if (of_a != of_b)
        return of_a < of_b;
    if (a->deadline_ns != b->deadline_ns)
        return a->deadline_ns < b->deadline_ns;
    const int windows = compare_windows(a, b);
    return windows ? windows < 0 : a->turn < b->turn;
}

/* Returns the first process of this group or a later one, apart from without. */
static int select_from(const struct dwcs *dwcs, enum group from, int without)
{
    int best = DWCS_NONE;
    for (int id = 0; id < DWCS_CAPACITY; id++) {
        const struct dwcs_process *const process = &dwcs->process[id];
        const enum group group = group_of(process);
        if (id == without || group < from || group == GROUP_NONE)
            continue;
        if (best == DWCS_NONE || precedes(process, &dwcs->process[best]))
            best = id;
    }
    return best;
}

bool dwcs_precedes(const struct dwcs *dwcs, int a, int b)
{
    return precedes(&dwcs->process[a], &dwcs->process[b]);
}

int dwcs_select(const struct dwcs *dwcs)
{
    return select_from(dwcs, GROUP_DUE, DWCS_NONE);
}

int dwcs_select_best_effort(const struct dwcs *dwcs)
{
    return select_from(dwcs, GROUP_BEST_EFFORT, DWCS_NONE);
}

int dwcs_select_without(const struct dwcs *dwcs, int id)
{
    return select_from(dwcs, GROUP_DUE, id);
}

void dwcs_run(struct dwcs *dwcs, int id, int64_t ran_ns)
{
    struct dwcs_process *const process = process_of(dwcs, id);
    process->received_ns += ran_ns;
    if (process->kind == DWCS_BEST_EFFORT) {
        process->turn = dwcs->turns++;
    } else if (!process->is_served && process->received_ns >= process->params.service_ns) {
        process->is_served = true;
        process->counts.served++;
        relax(process);
        process->turn = dwcs->turns++; /* its next deadline is settled now */
    }
}

double dwcs_utilisation(const struct dwcs *dwcs)
{
    double sum = 0;
    for (int id = 0; id < DWCS_CAPACITY; id++) {
        const struct dwcs_process *const process = &dwcs->process[id];
        const struct dwcs_params *const params = &process->params;
        if (process->kind != DWCS_REAL_TIME)
            continue;
        const double needed = params->y ? 1 - (double)params->x / params->y : 1;
        sum += needed * (double)params->service_ns / (double)params->period_ns;
    }
    return sum;
}
