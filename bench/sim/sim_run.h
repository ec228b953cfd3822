/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One run of dlex-bench-sim: its supply and costs are drawn from its seed, the film is played, and the figures are taken. */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "loss_windows.h"
#include "policy_run.h"
#include "quality.h"
#include "sim_options.h"

#include <stdint.h>

struct sim_figures {
    int64_t seed;
    struct quality quality;   /* as dlex-qoe takes it from a real run */
    struct loss_windows windows; /* likewise */
    double skew_ms_abs_mean;  /* of |A-V| of the shown pictures; NAN: none */
    int64_t wasted_cpu_ns;    /* decodes of droppable pictures that were dropped all the same */
    int64_t droppable_cpu_ns; /* decodes of all droppable pictures, if none were dropped */
    double cost_mape;         /* see policy_run.h; NAN for the clairvoyant */
    double cost_r2;
    int drops_at_least;       /* lower bounds of every schedule, for the clairvoyant; < 0: none is known */
    double rmse_q16_at_least;
};

/* Returns which part of a CPU the supply gives on average to a player that wants all of it. */
double sim_supply_mean(const struct sim_options *options);

/* Returns the factor by which all costs are multiplied. */
double sim_scale(const struct sim_options *options, const struct sim_film *film);

/*
 * Runs once. rows: one for each picture of the film, overwritten; the caller's. Returns 0 or -ENOMEM.
 */
int sim_run(struct sim_figures *figures, const struct sim_options *options, const struct sim_film *film, int64_t seed,
            struct frame_record *rows);

#endif
