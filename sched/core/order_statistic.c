/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "order_statistic.h"

#include <math.h>

/* Keeps 0.95 * 20, computed a little above 19, from becoming rank 20. */
static const double rounding = 1e-9;

static void swap(double *values, int64_t a, int64_t b)
{
    const double value = values[a];
    values[a] = values[b];
    values[b] = value;
}

/* Hoare's selection: the side that has the rank is partitioned again. */
double order_statistic(double *values, int64_t count, int64_t rank)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        const double pivot = values[low + (high - low) / 2];
        int64_t left = low, right = high;
        while (left <= right) {
            while (values[left] < pivot)
                left++;
            while (values[right] > pivot)
                right--;
            if (left <= right)
                swap(values, left++, right--);
        }
        if (rank <= right)
            high = right;
        else if (rank >= left)
            low = left;
        else
            break; /* what lies between both sides equals the pivot */
    }
    return values[rank];
}

double order_percentile(double *values, int64_t count, double part)
{
    const int64_t rank = (int64_t)ceil(part * (double)count - rounding) - 1;
    return order_statistic(values, count, rank < 0 ? 0 : rank);
}
