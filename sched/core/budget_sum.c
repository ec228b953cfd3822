/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "budget_sum.h"

#include <errno.h>
#include <math.h>

const double budget_sum_default = 0.6;

/* Of sums of parts; 0.2 + 0.4 is not 0.6. */
static const double rounding = 1e-9;

static double part(int64_t budget_ns, const struct budget_wish *wish)
{
    return (double)budget_ns / (double)wish->period_ns;
}

static int64_t least_of(const struct budget_wish *wish, int64_t least_ns)
{
    return wish->wanted_ns < least_ns ? wish->wanted_ns : least_ns;
}

double budget_sum_wanted(const struct budget_wish *wishes, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += part(wishes[i].wanted_ns, &wishes[i]);
    return sum;
}

/* Grants every wish times this factor, rounded down, or its least budget. Returns the sum of the granted budgets. */
static double grant(struct budget_wish *wishes, int count, double factor, int64_t least_ns)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        const int64_t reduced_ns = (int64_t)(factor * (double)wishes[i].wanted_ns);
        const int64_t floor_ns = least_of(&wishes[i], least_ns);
        wishes[i].granted_ns = reduced_ns > floor_ns ? reduced_ns : floor_ns;
        sum += part(wishes[i].granted_ns, &wishes[i]);
    }
    return sum;
}

/*
 * Returns the factor that leaves `most` in all if those that the factor `before` puts at their least budget have that, and
 * the others share the rest.
 */
static double next_factor(const struct budget_wish *wishes, int count, double before, double most, int64_t least_ns)
{
    double left = most, shared = 0;
    for (int i = 0; i < count; i++) {
        const int64_t floor_ns = least_of(&wishes[i], least_ns);
        if (before * (double)wishes[i].wanted_ns <= (double)floor_ns)
            left -= part(floor_ns, &wishes[i]);
        else
            shared += part(wishes[i].wanted_ns, &wishes[i]);
    }
    return shared > 0 ? fmax(0, left / shared) : 0;
}

int budget_sum_grant(struct budget_wish *wishes, int count, double most, int64_t least_ns)
{
    if (budget_sum_wanted(wishes, count) <= most + rounding) {
        grant(wishes, count, 1, 0);
        return 0;
    }
    double factor = most / budget_sum_wanted(wishes, count);
    /* Each round that does not yet fit puts at least one more wish at its least budget. */
    for (int round = 0; round <= count; round++) {
        if (grant(wishes, count, factor, least_ns) <= most + rounding)
            return 1;
        factor = next_factor(wishes, count, factor, most, least_ns);
    }
    for (int i = 0; i < count; i++)
        wishes[i].granted_ns = 0;
    return -ENOSPC;
}
