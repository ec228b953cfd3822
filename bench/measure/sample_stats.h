/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Statistics of measured samples. None of it allocates; samples are sorted in place where said. */
#ifndef SAMPLE_STATS_H
#define SAMPLE_STATS_H

#include <stddef.h>
#include <stdint.h>

/* Sorts the samples, ascending. */
void stats_sort(double *samples, size_t count);

/* The fraction (0 to 1) quantile of sorted samples, interpolated; NaN when there are none. */
double stats_quantile(const double *sorted, size_t count, double fraction);

struct stats_interval {
    double median;
    double low; /* 95 % interval of the median */
    double high;
};

/*
 * The median and its interval by the percentile bootstrap, 10,000 resamples. Sorts the samples. At
 * most STATS_MOST_SAMPLES of them. The same samples and seed give the same interval.
 */
enum { STATS_MOST_SAMPLES = 1000 };
struct stats_interval stats_bootstrap_median(double *samples, size_t count, uint64_t seed);

#endif
