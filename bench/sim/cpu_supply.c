/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu_supply.h"

#include <math.h>
#include <stdbool.h>

struct cpu_supply cpu_supply_part(const struct cpu_rate *rate)
{
    return (struct cpu_supply){.kind = SUPPLY_PART, .rate = rate};
}

struct cpu_supply cpu_supply_reservation(const struct cpu_rate *rate, int64_t budget_ns, int64_t period_ns)
{
    return (struct cpu_supply){.kind = SUPPLY_RESERVATION, .rate = rate, .budget_ns = budget_ns, .period_ns = period_ns,
                               .period_end_ns = INT64_MIN, .ran_until_ns = INT64_MIN};
}

struct cpu_supply cpu_supply_quota(const struct cpu_rate *rate, int64_t budget_ns, int64_t period_ns, int64_t phase_ns)
{
    return (struct cpu_supply){.kind = SUPPLY_QUOTA, .rate = rate, .budget_ns = budget_ns, .period_ns = period_ns,
                               .phase_ns = phase_ns, .period_end_ns = INT64_MIN};
}

static void begin_period(struct cpu_supply *supply, int64_t end_ns)
{
    supply->left_ns = supply->budget_ns;
    supply->period_end_ns = end_ns;
}

/*
 * A thread with a reservation wakes up. It keeps what is left of its budget only if it could not use more than its bandwidth
 * with that until its deadline (Abeni and Buttazzo's rule, as in the kernel).
 */
static void wake_up(struct cpu_supply *supply, int64_t now_ns)
{
    const bool is_over = supply->period_end_ns <= now_ns;
    if (is_over || (double)supply->left_ns * (double)supply->period_ns >
                       (double)(supply->period_end_ns - now_ns) * (double)supply->budget_ns)
        begin_period(supply, now_ns + supply->period_ns);
}

/* Returns the end of the quota's period that holds this time. */
static int64_t quota_period_end(const struct cpu_supply *supply, int64_t now_ns)
{
    const int64_t since_ns = (now_ns - supply->phase_ns) % supply->period_ns;
    return now_ns - (since_ns < 0 ? since_ns + supply->period_ns : since_ns) + supply->period_ns;
}

/* Gives a new budget where it is time for one. Returns how long the budget there is may be used. */
static int64_t refill(struct cpu_supply *supply, int64_t now_ns)
{
    switch (supply->kind) {
    case SUPPLY_PART: return INT64_MAX;
    case SUPPLY_RESERVATION:
        if (supply->left_ns == 0 && supply->period_end_ns <= now_ns)
            begin_period(supply, now_ns + supply->period_ns);
        return supply->left_ns ? INT64_MAX : supply->period_end_ns;
    case SUPPLY_QUOTA:
        if (supply->period_end_ns <= now_ns)
            begin_period(supply, quota_period_end(supply, now_ns));
        return supply->period_end_ns;
    }
    return INT64_MAX;
}

/* Returns the part of the CPU that others leave now, and moves *until_ns to where that changes, if it is earlier. */
static double part_now(struct cpu_supply *supply, int64_t now_ns, int64_t *until_ns)
{
    const struct cpu_rate *const rate = supply->rate;
    while (supply->step + 1 < rate->count && rate->steps[supply->step + 1].from_ns <= now_ns)
        supply->step++;
    if (supply->step + 1 < rate->count && rate->steps[supply->step + 1].from_ns < *until_ns)
        *until_ns = rate->steps[supply->step + 1].from_ns;
    return rate->steps[supply->step].part;
}

/* Runs a thread that wants cpu_ns > 0, up to a time at which something changes. Returns what it got. */
static int64_t run_on(struct cpu_supply *supply, int64_t *now_ns, int64_t cpu_ns, int64_t until_ns)
{
    int64_t end_ns = refill(supply, *now_ns);
    if (until_ns < end_ns)
        end_ns = until_ns;
    const bool is_limited = supply->kind != SUPPLY_PART;
    const double part = part_now(supply, *now_ns, &end_ns);
    if (part <= 0 || (is_limited && supply->left_ns == 0)) {
        *now_ns = end_ns;
        return 0;
    }
    int64_t got_ns = is_limited && supply->left_ns < cpu_ns ? supply->left_ns : cpu_ns;
    const double wall_ns = ceil((double)got_ns / part);
    if (wall_ns > (double)(end_ns - *now_ns)) {
        const int64_t possible_ns = (int64_t)((double)(end_ns - *now_ns) * part);
        got_ns = possible_ns < got_ns ? possible_ns : got_ns;
        *now_ns = end_ns;
    } else {
        *now_ns += (int64_t)wall_ns;
    }
    supply->left_ns -= is_limited ? got_ns : 0;
    return got_ns;
}

int64_t cpu_supply_run(struct cpu_supply *supply, int64_t *now_ns, int64_t cpu_ns, int64_t until_ns)
{
    int64_t got_ns = 0;
    if (supply->kind == SUPPLY_RESERVATION && cpu_ns > 0 && *now_ns < until_ns && *now_ns > supply->ran_until_ns)
        wake_up(supply, *now_ns);
    while (got_ns < cpu_ns && *now_ns < until_ns)
        got_ns += run_on(supply, now_ns, cpu_ns - got_ns, until_ns);
    supply->ran_until_ns = *now_ns;
    return got_ns;
}

int64_t cpu_supply_at_most(const struct cpu_supply *supply, int64_t from_ns, int64_t until_ns)
{
    struct cpu_supply best = *supply;
    best.step = 0;
    int64_t now_ns = from_ns;
    if (supply->kind == SUPPLY_QUOTA)
        begin_period(&best, quota_period_end(supply, from_ns));
    else
        best.kind = SUPPLY_PART;
    const int64_t possible_ns = cpu_supply_run(&best, &now_ns, INT64_MAX, until_ns);
    if (supply->kind != SUPPLY_RESERVATION)
        return possible_ns;
    const double bandwidth = (double)supply->budget_ns / (double)supply->period_ns;
    const double allowed_ns = bandwidth * (double)(until_ns - from_ns) + 2 * (double)supply->budget_ns;
    return allowed_ns < (double)possible_ns ? (int64_t)ceil(allowed_ns) : possible_ns;
}
