/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "picture_cost.h"

#include <math.h>

enum { AVERAGED = 64 };
static const double more_than_longest = 1.2, another_mean = 0.2;

void picture_cost_add(struct picture_cost *cost, int64_t cpu_ns)
{
    const int64_t counted = ++cost->pictures - PICTURE_COST_LEFT_OUT;
    if (counted <= 0)
        return;
    cost->mean_ns += ((double)cpu_ns - cost->mean_ns) / (double)(counted < AVERAGED ? counted : AVERAGED);
    if (cpu_ns > cost->longest_ns)
        cost->longest_ns = cpu_ns;
}

static bool mean_has_changed(const struct picture_cost *cost)
{
    const double claimed_ns = (double)cost->claimed.mean_ns;
    return cost->pictures - cost->claimed_at >= PICTURE_COST_KNOWN && fabs(cost->mean_ns - claimed_ns) > another_mean * claimed_ns;
}

bool picture_cost_is_due(const struct picture_cost *cost, struct picture_cost_claim *claim)
{
    const bool is_first = !cost->claimed_at;
    if (cost->pictures < PICTURE_COST_KNOWN ||
        (!is_first && cost->longest_ns <= cost->claimed.longest_ns && !mean_has_changed(cost)))
        return false;
    *claim = (struct picture_cost_claim){
        .mean_ns = (int64_t)cost->mean_ns,
        .longest_ns = (int64_t)(more_than_longest * (double)cost->longest_ns),
    };
    return true;
}

void picture_cost_claimed(struct picture_cost *cost, const struct picture_cost_claim *claim)
{
    cost->claimed = *claim;
    cost->claimed_at = cost->pictures;
}
