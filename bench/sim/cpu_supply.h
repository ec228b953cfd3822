/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a scheduler gives CPU time to threads of the player, in virtual time. A supply is plain data: copying it and running
 * the copy shows what would happen. Times are in ns.
 */
#ifndef CPU_SUPPLY_H
#define CPU_SUPPLY_H

#include "cpu_rate.h"

#include <stdint.h>

enum cpu_supply_kind {
    SUPPLY_PART,        /* whatever others leave */
    SUPPLY_RESERVATION, /* a budget in each period by a constant bandwidth server, as SCHED_DEADLINE has it */
    SUPPLY_QUOTA,       /* a budget in each period, all periods counted from phase_ns, as cpu.max has it */
};

struct cpu_supply {
    enum cpu_supply_kind kind;
    const struct cpu_rate *rate; /* the caller's */
    int64_t budget_ns;
    int64_t period_ns;
    int64_t phase_ns;            /* of a quota: where one of the periods begins */
    /* State; begins at 0, but for period_end_ns, which begins at INT64_MIN. */
    int64_t left_ns;             /* of the budget */
    int64_t period_end_ns;       /* of a reservation: its deadline. Then there is a new budget */
    int64_t ran_until_ns;        /* when a thread last wanted CPU time */
    int64_t step;                /* of the rate */
};

/* Makes supplies that have not run yet. The budget must be > 0. */
struct cpu_supply cpu_supply_part(const struct cpu_rate *rate);
struct cpu_supply cpu_supply_reservation(const struct cpu_rate *rate, int64_t budget_ns, int64_t period_ns);
struct cpu_supply cpu_supply_quota(const struct cpu_rate *rate, int64_t budget_ns, int64_t period_ns, int64_t phase_ns);

/*
 * A thread wants cpu_ns of CPU time from *now_ns on. Moves *now_ns to when it has got it, or to until_ns if that is
 * earlier, and returns what it got. *now_ns must not go back from call to call. If it is later than after the last call,
 * nobody wanted CPU time in between.
 */
int64_t cpu_supply_run(struct cpu_supply *supply, int64_t *now_ns, int64_t cpu_ns, int64_t until_ns);

/*
 * Returns an upper bound of the CPU time from from_ns to until_ns, whatever was used before. For a quota and for a part that
 * is what a thread gets if the budget is whole at from_ns. For a reservation it is the bandwidth of the time in between and
 * two budgets: the server's periods (from one new budget to the next) do not overlap, each gives at most its bandwidth, and
 * only the first and the last one may be cut, each of which gives at most a budget.
 */
int64_t cpu_supply_at_most(const struct cpu_supply *supply, int64_t from_ns, int64_t until_ns);

#endif
