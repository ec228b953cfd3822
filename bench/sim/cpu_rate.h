/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which part of the CPU others leave to the player, over virtual time. A rate never changes after it was made, so any
 * number of supplies may read it. Times are in ns; virtual time begins at 0.
 */
#ifndef CPU_RATE_H
#define CPU_RATE_H

#include "sim_random.h"

#include <stdint.h>

struct cpu_rate_step {
    int64_t from_ns; /* the part holds from here to the next step; that of the last step for ever */
    double part;     /* 0: others have the whole CPU; 1: nobody else has any of it */
};

struct cpu_rate {
    struct cpu_rate_step *steps; /* ascending; the first one is at 0 or earlier */
    int64_t count;
};

/* The tasks of the paper's rt-app (seed 000, 8): 3 ms every 8, and 20 ms every 200. */
enum rtapp_tasks { RTAPP_SHORT, RTAPP_BOTH };

/*
 * Each of these makes a rate that changes until until_ns. Returns 0 or -ENOMEM; the rate is then empty. cpu_rate_finish
 * frees it, and accepts an empty one.
 */

/* The same part at all times. */
int cpu_rate_constant(struct cpu_rate *rate, double part);

/*
 * Beside tasks that come first whenever they want the CPU; after until_ns there are none. Their phases are random, and their jobs take 90 to 100 % of
 * the nominal time, as in the laboratory.
 */
int cpu_rate_beside_rtapp(struct cpu_rate *rate, enum rtapp_tasks tasks, int64_t until_ns, struct sim_random *random);

/*
 * Beside three programs that share the CPU fairly with the player while they are busy. Each is busy for 300 ms on average,
 * and then idle for idle_ns on average, both exponentially distributed.
 */
int cpu_rate_beside_bursts(struct cpu_rate *rate, int64_t idle_ns, int64_t until_ns, struct sim_random *random);

void cpu_rate_finish(struct cpu_rate *rate);

/* Returns the mean part from 0 to until_ns > 0. */
double cpu_rate_mean(const struct cpu_rate *rate, int64_t until_ns);

#endif
