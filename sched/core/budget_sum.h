/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps the reservations of all threads of a player within a part of a CPU. */
#ifndef SCHED_BUDGET_SUM_H
#define SCHED_BUDGET_SUM_H

#include <stdint.h>

/* 60 % of one CPU: a player that misjudges its film must leave the desktop usable. */
extern const double budget_sum_default;

struct budget_wish {
    int64_t wanted_ns; /* budget in each period; > 0 */
    int64_t period_ns;
    int64_t granted_ns; /* out: at most wanted_ns */
};

/* Returns the sum of the wanted budgets, each as a part of its period: 1 is a whole CPU. */
double budget_sum_wanted(const struct budget_wish *wishes, int count);

/*
 * Grants budgets whose sum, as parts of their periods, is at most `most` (to 1e-9). If the wishes exceed it, the largest ones are
 * reduced to equal parts of a CPU (max-min fairness): the thread that presents needs little, and if it had less, every picture would be
 * late, while a decoder with less is late with some. But none is reduced to less than least_ns, unless less was wanted, because a
 * reservation of next to nothing stalls its thread and all threads that wait for it. The others then pay for it. Returns 0 if all
 * wishes are granted in full, 1 if some were reduced, or -ENOSPC if not even the least budgets fit; then every granted_ns is 0.
 */
int budget_sum_grant(struct budget_wish *wishes, int count, double most, int64_t least_ns);

#endif
