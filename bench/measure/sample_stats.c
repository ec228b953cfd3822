/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sample_stats.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { RESAMPLES = 10000 };

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void stats_sort(double *samples, size_t count)
{
    qsort(samples, count, sizeof(*samples), compare);
}

double stats_quantile(const double *sorted, size_t count, double fraction)
{
    if (!count)
        return NAN;
    const double position = fraction * (count - 1);
    const size_t below = position;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (position - below) * (sorted[below + 1] - sorted[below]);
}

static uint64_t xorshift(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static double resampled_median(const double *samples, size_t count, uint64_t *random)
{
    double resample[STATS_MOST_SAMPLES];
    for (size_t i = 0; i < count; i++)
        resample[i] = samples[(xorshift(random) >> 32) % count];
    stats_sort(resample, count);
    return stats_quantile(resample, count, 0.5);
}

struct stats_interval stats_bootstrap_median(double *samples, size_t count, uint64_t seed)
{
    assert(count <= STATS_MOST_SAMPLES);
    static double medians[RESAMPLES]; /* 80 kB, too much for some stacks */
    uint64_t random = seed | 1;
    for (size_t i = 0; count && i < RESAMPLES; i++)
        medians[i] = resampled_median(samples, count, &random);
    const size_t resamples = count ? RESAMPLES : 0;
    stats_sort(medians, resamples);
    stats_sort(samples, count);
    return (struct stats_interval){
        .median = stats_quantile(samples, count, 0.5),
        .low = stats_quantile(medians, resamples, 0.025),
        .high = stats_quantile(medians, resamples, 0.975),
    };
}
