/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * histogram.h: a distribution of durations in fixed memory, for many writers.
 *
 * Values are nanoseconds from 0 to 2^47 (39 hours; a longer value lies in the last bucket, and is exact
 * in min, max and mean). Up to 32 ns each value has a bucket of its own. Above that, each power of two
 * is divided into 32 buckets of equal width, so a bucket is at most 1/32 = 3.1 % of its values wide,
 * and a percentile, taken in the middle of its bucket, is at most 1.6 % off. Count, min, max, mean and
 * standard deviation are those of the values themselves.
 *
 * All zero is an empty histogram: a static one needs no initialisation. Adding is lock-free,
 * async-signal-safe, allocates nothing and does not touch the floating-point environment, which belongs
 * to the application (it may trap on an inexact result). The atomics are relaxed: a thread that reads
 * meanwhile may see a part of the value that is just being added.
 */
#ifndef DLEX_HISTOGRAM_H
#define DLEX_HISTOGRAM_H

#include <stdint.h>

enum {
    HISTOGRAM_STEPS = 32,   /* buckets in each power of two */
    HISTOGRAM_OCTAVES = 42, /* from 2^5 to 2^47 */
    HISTOGRAM_BUCKETS = HISTOGRAM_STEPS * (1 + HISTOGRAM_OCTAVES),
};

struct histogram {
    uint64_t sum_ns;
    uint64_t squares_low, squares_high; /* the sum of the squares, 128 bits */
    uint64_t max_ns;
    uint64_t not_min_ns;                /* the complement of the minimum: it grows, from zero */
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

/* The figures of a histogram; all zero if it is empty. */
struct histogram_summary {
    uint64_t count;
    int64_t min_ns, max_ns;
    int64_t p50_ns, p90_ns, p99_ns; /* at most 1.6 % off */
    double mean_ns, stddev_ns;      /* of the whole population, not of a sample */
};

/* Adds a value; a negative one counts as 0. Any thread, any signal handler. */
void dlex_histogram_add(struct histogram *h, int64_t value_ns);

/* Raises *most to value, for a maximum that many threads keep. */
void dlex_histogram_raise(uint64_t *most, uint64_t value);

/* Empties the histogram. Values that are added meanwhile may be lost, in part or whole. */
void dlex_histogram_clear(struct histogram *h);

/* Adds a copy of from to into, which no other thread may use. The functions below need such a copy,
 * because their answers are consistent only if no thread adds meanwhile. */
void dlex_histogram_merge(struct histogram *into, const struct histogram *from);

uint64_t dlex_histogram_count(const struct histogram *copy);
struct histogram_summary dlex_histogram_summarise(const struct histogram *copy);

/* Returns the bounds, both included, of the value with this rank: 1 is the smallest, count the largest.
 * They are at most 3.1 % apart, and not outside the minimum and the maximum. */
struct histogram_range {
    int64_t low_ns, high_ns;
};
struct histogram_range dlex_histogram_rank(const struct histogram *copy, uint64_t rank);

/* Returns the bounds, both included, of the values of a bucket; the last bucket has no upper one
 * (INT64_MAX). */
struct histogram_range dlex_histogram_bucket(int bucket);

#endif
