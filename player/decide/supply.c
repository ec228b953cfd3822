/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "supply.h"

#include "ns.h"

#include <math.h>

/* 300 to 3000 ms made no difference in simulations. */
static const double window_ns = 800.0 * NS_PER_MS;
static const double rate_min = 0.05;
/* What stands for the past at the beginning. */
static const double first_cpu_ns = 20.0 * NS_PER_MS, first_wall_ns = 40.0 * NS_PER_MS;

void supply_init(struct supply *supply)
{
    *supply = (struct supply){.cpu_ns = first_cpu_ns, .wall_ns = first_wall_ns};
    supply_set_threads(supply, 1);
}

void supply_set_threads(struct supply *supply, int decoding)
{
    supply->rate_max = decoding + 1;
}

void supply_learn(struct supply *supply, int64_t wall_ns, int64_t cpu_ns)
{
    if (wall_ns <= 0)
        return;
    const double kept = exp(-(double)wall_ns / window_ns);
    /* A program that was stopped for a minute within a decode got nothing for a minute, but that says little about now. */
    const double counted = fmin(1, window_ns / (double)wall_ns);
    supply->cpu_ns = supply->cpu_ns * kept + counted * (double)cpu_ns;
    supply->wall_ns = supply->wall_ns * kept + counted * (double)wall_ns;
}

double supply_rate(const struct supply *supply)
{
    return fmin(fmax(supply->cpu_ns / supply->wall_ns, rate_min), supply->rate_max);
}
