/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "supply_bound.h"

int64_t supply_bound_ns(int64_t budget_ns, int64_t period_ns, int64_t t_ns)
{
    const int64_t periods = t_ns / period_ns;
    const int64_t in_period_ns = t_ns % period_ns;
    const int64_t blackout_ns = period_ns - budget_ns;
    return periods * budget_ns + (in_period_ns > blackout_ns ? in_period_ns - blackout_ns : 0);
}

/* a >= 0, b > 0 */
static int64_t divided_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

int64_t supply_bound_budget_ns(int64_t cost_ns, int64_t task_period_ns, int64_t server_period_ns)
{
    if (cost_ns > task_period_ns)
        return -1;
    const int64_t whole = task_period_ns / server_period_ns;
    const int64_t missing_ns = (whole + 1) * server_period_ns - task_period_ns; /* of the period in which the task's ends */
    const int64_t with_part_ns = divided_up(cost_ns + missing_ns, whole + 1);
    const int64_t with_whole_ns = whole ? divided_up(cost_ns, whole) : INT64_MAX;
    return with_whole_ns < with_part_ns ? with_whole_ns : with_part_ns;
}
