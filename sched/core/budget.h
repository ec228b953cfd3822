/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Adapts the budget of a thread's reservation to what the thread uses (seed 003, sections IV.A and VI). Time is an argument;
 * all times are in ns.
 *
 * What is fed: budget_add_period, with the CPU time of each of the thread's periods, and budget_update, every 500 ms, with what
 * happened since the last update. Under a reservation that is too small a thread uses its whole budget and no more, so that
 * its use does not show its need. The observing rules get out of this by their margin, and by at least 30 % with each update that
 * follows an exhausted budget and asks for more.
 *
 *     struct budget budget;
 *     budget_init(&budget, &budget_defaults, period_ns, budget_first_ns(cpu_ns, periods, period_ns));
 *     every 500 ms:
 *         budget_add_period(&budget, cpu_ns);   // for each period since
 *         if (budget_update(&budget, now_ns, &(struct budget_sample){.is_exhausted = throttled}))
 *             ... set the reservation to budget.budget_ns in each budget.period_ns
 */
#ifndef SCHED_BUDGET_H
#define SCHED_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

enum budget_rule {
    /*
     * A percentile of the last periods' CPU time, plus a margin. The default. The seed names it, and the next, as successors of
     * LFS (section VI.B).
     */
    BUDGET_PERCENTILE,
    BUDGET_MAX, /* the maximum of the last periods' CPU time, plus a margin */
    /*
     * LFSg, the Legacy Feedback Scheduler's simplest function: Q = alpha Q if the budget was too small, else Q - beta. What
     * "too small" means depends on the sensor. Linux: the budget was exhausted at least once since the last sample.
     */
    BUDGET_LFSG,
    /*
     * The same function with the seed's own sensor: the scheduling deadline is more than a period away (eps = d - t > T). It
     * needs a server that postpones the deadline when the budget is exhausted. SCHED_DEADLINE throttles instead, so that
     * under Linux this rule only ever lowers the budget. It is there for simulations of the seed.
     */
    BUDGET_LFS,
};

struct budget_options {
    enum budget_rule rule;
    double percentile;         /* 0 to 1 */
    double margin;             /* of what the observing rules add: 0.1 is 10 % */
    double lower_below;        /* hysteresis: they lower the budget only below this part of it */
    double raise_above;        /* and raise it only above this multiple of it */
    double alpha;              /* LFSg's growth, as a factor */
    double beta_part;          /* LFSg's decrease, as a part of the period */
    int64_t budget_min_ns;
    double budget_max_part;    /* of the period */
    int64_t change_gap_ns;     /* between two changes at least */
};

/*
 * Percentile 95 + 10 %; hysteresis from 0.9 to 1.02; alpha 1.15; beta T/160 (0.25 ms at 40 ms); budgets from 0.5 ms to 0.95 T;
 * two changes a second. The seed gives neither alpha nor beta nor bounds; these are ours.
 */
extern const struct budget_options budget_defaults;

enum { BUDGET_PERIODS = 64 };

struct budget {
    struct budget_options options;
    int64_t period_ns;
    int64_t budget_ns;
    int64_t changed_ns;              /* when budget_ns was changed; INT64_MIN: never */
    int64_t cpu_ns[BUDGET_PERIODS];  /* of the last periods, a ring */
    int64_t periods;                 /* that were added since the beginning or since the period changed */
};

/* What happened since the last update. */
struct budget_sample {
    bool is_paused;              /* no event for a second: the budget stays (the player waits for its user) */
    bool is_exhausted;           /* the budget ran out at least once */
    int64_t scheduling_error_ns; /* eps = d - t at this moment; only BUDGET_LFS reads it */
};

/*
 * Returns the budget to begin with: 1.3 times the 95th percentile of these periods' CPU time, within the default bounds. With
 * no periods it is the lower bound.
 */
int64_t budget_first_ns(const int64_t *cpu_ns, int64_t periods, int64_t period_ns);

/* Begins with this budget, moved into the bounds. period_ns > 0. */
void budget_init(struct budget *budget, const struct budget_options *options, int64_t period_ns, int64_t first_ns);

/* Takes over a changed period of the thread. The share of CPU time stays; what was observed is forgotten. */
void budget_set_period(struct budget *budget, int64_t period_ns);

/* Adds the CPU time of one of the thread's periods. */
void budget_add_period(struct budget *budget, int64_t cpu_ns);

/*
 * Replaces what was observed by the CPU times of these periods, of which the last 64 count. It is for callers that compute the
 * latest periods anew each time (period_cpu); they do not call budget_add_period.
 */
void budget_observe(struct budget *budget, const int64_t *cpu_ns, int64_t periods);

/*
 * Adapts the budget. Returns true if budget_ns has changed. Within change_gap_ns of the last change nothing changes, and the
 * observing rules do nothing before they have seen eight periods. A budget that was exhausted does not fall, except under
 * BUDGET_LFS, which does not see it.
 */
bool budget_update(struct budget *budget, int64_t now_ns, const struct budget_sample *sample);

#endif
