/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a reservation of budget Q in each period T gives at least (seed 003, section III.B). Time 0 is when the task wakes up,
 * which begins a server period; the worst case gives Q at the end of each period. All times in ns.
 */
#ifndef SCHED_SUPPLY_BOUND_H
#define SCHED_SUPPLY_BOUND_H

#include <stdint.h>

/*
 * Returns the supply bound function Z(t): the CPU time that the task has had by t at least.
 *
 * The seed's equation 1 says h Q in ]hT, (h+1)T - Q] and t - (h+1)(T - Q) otherwise, with h = floor(t / T). At t = hT itself
 * that is T - Q too little, and negative for t = 0; the text beside it includes hT in the first case, and so do we.
 *
 * 0 < budget_ns <= period_ns, t_ns >= 0.
 */
int64_t supply_bound_ns(int64_t budget_ns, int64_t period_ns, int64_t t_ns);

/*
 * Returns the smallest budget in each server period with which a task gets its cost in time in each of its own periods, whatever
 * the phases (equation 2, and Figure 2). Returns -1 if there is none, because the cost exceeds the task's period.
 * cost_ns >= 0, both periods > 0.
 *
 * Z grows with t, so that equation 2 needs Z only at the end of the task's period P. There Z(P) is the larger one of h Q and
 * P - (h+1)(T - Q), with h = floor(P / T); each alone reaching the cost is enough.
 */
int64_t supply_bound_budget_ns(int64_t cost_ns, int64_t task_period_ns, int64_t server_period_ns);

#endif
