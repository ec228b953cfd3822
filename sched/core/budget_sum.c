/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "budget_sum.h"

#include <errno.h>

const double budget_sum_default = 0.6;

/* Of sums of parts; 0.2 + 0.4 is not 0.6. */
static const double rounding = 1e-9;

enum { HALVINGS = 40 }; /* to 1 ns in a period of minutes */

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

/* Grants every wish up to this part of a CPU, but at least its least budget. Returns the sum of the granted budgets. */
static double grant_up_to(struct budget_wish *wishes, int count, double level, int64_t least_ns)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        struct budget_wish *const wish = &wishes[i];
        const int64_t floor_ns = least_of(wish, least_ns);
        const int64_t level_ns = (int64_t)(level * (double)wish->period_ns);
        wish->granted_ns = level_ns < floor_ns ? floor_ns : level_ns < wish->wanted_ns ? level_ns : wish->wanted_ns;
        sum += part(wish->granted_ns, wish);
    }
    return sum;
}

int budget_sum_grant(struct budget_wish *wishes, int count, double most, int64_t least_ns)
{
    if (budget_sum_wanted(wishes, count) <= most + rounding) {
        grant_up_to(wishes, count, 0, INT64_MAX); /* the least budget of each is then its wish */
        return 0;
    }
    double level = 0, too_high = 1;
    if (grant_up_to(wishes, count, level, least_ns) > most + rounding) {
        for (int i = 0; i < count; i++)
            wishes[i].granted_ns = 0;
        return -ENOSPC;
    }
    for (int halvings = 0; halvings < HALVINGS; halvings++) {
        const double middle = (level + too_high) / 2;
        if (grant_up_to(wishes, count, middle, least_ns) <= most + rounding)
            level = middle;
        else
            too_high = middle;
    }
    grant_up_to(wishes, count, level, least_ns);
    return 1;
}
