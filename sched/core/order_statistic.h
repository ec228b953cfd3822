/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The value of a given rank among unsorted values, in linear time on average and without memory. */
#ifndef SCHED_ORDER_STATISTIC_H
#define SCHED_ORDER_STATISTIC_H

#include <stdint.h>

/* Returns the value with this rank; rank 0 is the smallest value. It reorders the values. 0 <= rank < count. */
double order_statistic(double *values, int64_t count, int64_t rank);

/*
 * Returns the percentile by nearest rank: the smallest value that at least this part of all values does not exceed. It
 * reorders the values. 0 <= part <= 1, count > 0.
 */
double order_percentile(double *values, int64_t count, double part);

#endif
