/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "histogram.h"

#include <stdbool.h>
#include <stddef.h>

_Static_assert(__atomic_always_lock_free(sizeof(uint64_t), 0),
               "histograms are used in signal handlers: 64-bit atomics must be lock-free");

enum { FIRST_OCTAVE = 5 };
_Static_assert(HISTOGRAM_STEPS == 1 << FIRST_OCTAVE, "below the first octave a step is 1 ns");

static uint64_t get(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static uint64_t add(uint64_t *word, uint64_t value)
{
    return __atomic_fetch_add(word, value, __ATOMIC_RELAXED);
}

void dlex_histogram_raise(uint64_t *most, uint64_t value)
{
    uint64_t seen = get(most);
    while (seen < value && !__atomic_compare_exchange_n(most, &seen, value, 1, __ATOMIC_RELAXED,
                                                        __ATOMIC_RELAXED))
        ;
}

static int bucket_of(uint64_t value_ns)
{
    if (value_ns < HISTOGRAM_STEPS)
        return (int)value_ns;
    const int octave = 63 - __builtin_clzll(value_ns);
    if (octave >= FIRST_OCTAVE + HISTOGRAM_OCTAVES)
        return HISTOGRAM_BUCKETS - 1;
    const int shift = octave - FIRST_OCTAVE;
    return shift * HISTOGRAM_STEPS + (int)(value_ns >> shift);
}

struct histogram_range dlex_histogram_bucket(int bucket)
{
    if (bucket < HISTOGRAM_STEPS)
        return (struct histogram_range){ bucket, bucket };
    const int shift = bucket / HISTOGRAM_STEPS - 1;
    const int64_t step = bucket % HISTOGRAM_STEPS + HISTOGRAM_STEPS;
    const bool last = bucket == HISTOGRAM_BUCKETS - 1;
    return (struct histogram_range){ step << shift,
                                     last ? INT64_MAX : ((step + 1) << shift) - 1 };
}

/* The carry reaches the high word an instant after the low one has wrapped. */
static void add_square(struct histogram *h, uint64_t value)
{
    const uint64_t high = value >> 32, low = value & UINT32_MAX;
    const uint64_t middle = high * low; /* twice, and 32 bits up */
    const uint64_t lowest = low * low;
    const uint64_t low_word = lowest + (middle << 33);
    uint64_t high_word = high * high + (middle >> 31) + (low_word < lowest);
    high_word += add(&h->squares_low, low_word) > UINT64_MAX - low_word;
    if (high_word)
        add(&h->squares_high, high_word);
}

void dlex_histogram_add(struct histogram *h, int64_t value_ns)
{
    const uint64_t value = value_ns > 0 ? (uint64_t)value_ns : 0;
    add(&h->buckets[bucket_of(value)], 1);
    add(&h->sum_ns, value);
    add_square(h, value);
    dlex_histogram_raise(&h->max_ns, value);
    dlex_histogram_raise(&h->not_min_ns, ~value);
}

void dlex_histogram_clear(struct histogram *h)
{
    uint64_t *const words = (uint64_t *)h;
    for (size_t i = 0; i < sizeof(*h) / sizeof(*words); i++)
        __atomic_store_n(&words[i], 0, __ATOMIC_RELAXED);
}

void dlex_histogram_merge(struct histogram *into, const struct histogram *from)
{
    into->sum_ns += get(&from->sum_ns);
    const uint64_t squares_low = get(&from->squares_low);
    into->squares_high += get(&from->squares_high);
    into->squares_low += squares_low;
    into->squares_high += into->squares_low < squares_low;
    dlex_histogram_raise(&into->max_ns, get(&from->max_ns));
    dlex_histogram_raise(&into->not_min_ns, get(&from->not_min_ns));
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
        into->buckets[i] += get(&from->buckets[i]);
}

uint64_t dlex_histogram_count(const struct histogram *copy)
{
    uint64_t count = 0;
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
        count += copy->buckets[i];
    return count;
}

/* Limits the range to the values seen: at both ends of the distribution a bucket is wider than the
 * values in it. */
static struct histogram_range within_seen(const struct histogram *copy, struct histogram_range r)
{
    const int64_t min_ns = (int64_t)~copy->not_min_ns, max_ns = (int64_t)copy->max_ns;
    if (r.low_ns < min_ns && min_ns <= r.high_ns)
        r.low_ns = min_ns;
    if (r.low_ns <= max_ns && max_ns < r.high_ns)
        r.high_ns = max_ns;
    return r;
}

struct histogram_range dlex_histogram_rank(const struct histogram *copy, uint64_t rank)
{
    int bucket = 0;
    for (uint64_t below = copy->buckets[0]; below < rank && bucket < HISTOGRAM_BUCKETS - 1;)
        below += copy->buckets[++bucket];
    return within_seen(copy, dlex_histogram_bucket(bucket));
}

/* Returns the percentile by nearest rank: the smallest value that this percentage of all values does
 * not exceed. */
static int64_t percentile(const struct histogram *copy, uint64_t count, unsigned percent)
{
    const struct histogram_range r = dlex_histogram_rank(copy, (count * percent + 99) / 100);
    return r.low_ns + (r.high_ns - r.low_ns) / 2;
}

/* Newton's iteration, from above. The library links only with libc, not even with libm. */
static long double square_root(long double x)
{
    if (!(x > 0))
        return 0;
    long double root = x, next = x > 1 ? x : 1;
    do {
        root = next;
        next = (root + x / root) / 2;
    } while (next < root);
    return root;
}

struct histogram_summary dlex_histogram_summarise(const struct histogram *copy)
{
    const uint64_t count = dlex_histogram_count(copy);
    if (count == 0)
        return (struct histogram_summary){ 0 };
    const long double squares = (long double)copy->squares_high * 0x1p64L + copy->squares_low;
    const long double mean_ns = (long double)copy->sum_ns / count;
    return (struct histogram_summary){
        .count = count,
        .min_ns = dlex_histogram_rank(copy, 1).low_ns,
        .max_ns = dlex_histogram_rank(copy, count).high_ns,
        .p50_ns = percentile(copy, count, 50),
        .p90_ns = percentile(copy, count, 90),
        .p99_ns = percentile(copy, count, 99),
        .mean_ns = (double)mean_ns,
        .stddev_ns = (double)square_root(squares / count - mean_ns * mean_ns),
    };
}
