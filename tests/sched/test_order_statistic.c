/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Selection by rank against sorting. */
#include "order_statistic.h"

#include <stdlib.h>

#include "sim_random.h"
#include "suite.h"

enum { COUNT = 50 };

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Few different values, so that many are equal. */
START_TEST(selection_equals_sorting)
{
    struct sim_random random;
    sim_random_init(&random, 1);
    for (int round = 0; round < 500; round++) {
        const int count = 1 + (int)(sim_random_uniform(&random) * COUNT);
        double values[COUNT], sorted[COUNT];
        for (int i = 0; i < count; i++)
            values[i] = sorted[i] = (double)(int)(sim_random_uniform(&random) * 20);
        qsort(sorted, (size_t)count, sizeof sorted[0], compare);
        for (int rank = 0; rank < count; rank++)
            ck_assert_double_eq(order_statistic(values, count, rank), sorted[rank]);
    }
}
END_TEST

START_TEST(percentile_is_by_nearest_rank)
{
    double values[20];
    for (int i = 0; i < 20; i++)
        values[i] = 20 - i;
    ck_assert_double_eq(order_percentile(values, 20, 0.95), 19);
    ck_assert_double_eq(order_percentile(values, 20, 0.96), 20);
    ck_assert_double_eq(order_percentile(values, 20, 1), 20);
    ck_assert_double_eq(order_percentile(values, 20, 0), 1);
    ck_assert_double_eq(order_percentile(values, 20, 0.5), 10);
    ck_assert_double_eq(order_percentile(values, 1, 0.5), values[0]);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {selection_equals_sorting, percentile_is_by_nearest_rank, NULL};
    return suite_run("order_statistic", SUITE_TIMEOUT_DEFAULT, tests);
}
