/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Statistics of measured samples. No function allocates. Samples are sorted in place where the
 * comment says so.
 */
#ifndef SAMPLE_STATS_H
#define SAMPLE_STATS_H

#include <stddef.h>
#include <stdint.h>

/* Sorts the samples in ascending order. */
void stats_sort(double *samples, size_t count);

/* Returns the `fraction` quantile (0 to 1) of sorted samples, interpolated; NaN without samples. */
double stats_quantile(const double *sorted, size_t count, double fraction);

struct stats_interval {
    double median;
    double low; /* 95 % interval of the median */
    double high;
};

/*
 * Returns the median and its interval by the percentile bootstrap, with 10,000 resamples. Sorts the
 * samples, of which there may be at most STATS_MOST_SAMPLES. The same samples and seed give the
 * same interval.
 */
enum { STATS_MOST_SAMPLES = 1000 };
struct stats_interval stats_bootstrap_median(double *samples, size_t count, uint64_t seed);

#endif
