/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares the histogram of durations with the sorted values themselves. Not here: its cost. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "dlex_testing.h"
#include "histogram.h"

enum { MANY = 100000 };

/* The width of a bucket is 1/32 of its values, and its middle represents them. */
static const double HALF_BUCKET = 1.0 / 64;

static struct histogram *new_histogram(void)
{
    struct histogram *h = calloc(1, sizeof(*h));
    ck_assert_ptr_nonnull(h);
    return h;
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Any fixed sequence is good enough. */
static uint64_t random_bits(uint64_t *state)
{
    *state = *state * 6364136223846793005 + 1442695040888963407;
    return *state >> 11;
}

/* Log-uniform from 1 ns to 2^45 ns: all octaves get about the same number of values. */
static int64_t any_duration(uint64_t *state)
{
    const int octave = (int)(random_bits(state) % 45);
    return (INT64_C(1) << octave) + (int64_t)(random_bits(state) % (UINT64_C(1) << octave));
}

static void assert_near(int64_t got, int64_t exact)
{
    ck_assert_msg(fabs((double)(got - exact)) <= HALF_BUCKET * (double)exact,
                  "%lld is not within 1/64 of %lld", (long long)got, (long long)exact);
}

static void assert_summary_of(const struct histogram *h, int64_t *values, int n)
{
    qsort(values, (size_t)n, sizeof(*values), ascending);
    double sum = 0, squares = 0;
    for (int i = 0; i < n; i++)
        sum += (double)values[i];
    for (int i = 0; i < n; i++)
        squares += pow((double)values[i] - sum / n, 2);
    const struct histogram_summary s = dlex_histogram_summarise(h);
    ck_assert_uint_eq(s.count, (uint64_t)n);
    ck_assert_int_eq(s.min_ns, values[0]);
    ck_assert_int_eq(s.max_ns, values[n - 1]);
    assert_near(s.p50_ns, values[(n * 50 + 99) / 100 - 1]);
    assert_near(s.p90_ns, values[(n * 90 + 99) / 100 - 1]);
    assert_near(s.p99_ns, values[(int64_t)n * 99 / 100 - 1 + (n * 99 % 100 > 0)]);
    ck_assert_double_eq_tol(s.mean_ns / (sum / n), 1, 1e-12);
    ck_assert_double_eq_tol(s.stddev_ns, sqrt(squares / n), 1e-6 * sum / n);
}

START_TEST(summary_is_that_of_the_values)
{
    struct histogram *h = new_histogram();
    int64_t *values = calloc(MANY, sizeof(*values));
    uint64_t state = 1;
    int n = 0;
    for (const int *until = (const int[]){ 1, 2, 3, 7, 100, 101, 1000, MANY, 0 }; *until; until++) {
        for (; n < *until; n++) {
            values[n] = any_duration(&state);
            dlex_histogram_add(h, values[n]);
        }
        assert_summary_of(h, values, n);
    }
    free(values);
    free(h);
}
END_TEST

/* Sums of squares lose precision if the standard deviation is small compared with the mean. */
START_TEST(deviation_of_a_microsecond_in_a_second_is_kept)
{
    struct histogram *h = new_histogram();
    int64_t values[1000];
    for (int i = 0; i < 1000; i++) {
        values[i] = 1000 * MS + (i % 2 ? 1000 : -1000);
        dlex_histogram_add(h, values[i]);
    }
    ck_assert_double_eq_tol(dlex_histogram_summarise(h).stddev_ns, 1000, 1);
    free(h);
}
END_TEST

#ifdef __SIZEOF_INT128__
static void assert_squares(const struct histogram *h, unsigned __int128 sum)
{
    ck_assert_uint_eq(h->squares_low, (uint64_t)sum);
    ck_assert_uint_eq(h->squares_high, (uint64_t)(sum >> 64));
}

START_TEST(squares_add_up_exactly_in_128_bits)
{
    struct histogram *h = new_histogram(), *merged = new_histogram();
    unsigned __int128 sum = 0;
    uint64_t state = 3;
    for (int i = 0; i < 1000; i++) {
        const uint64_t value = random_bits(&state) >> (i % 40);
        dlex_histogram_add(h, (int64_t)value);
        sum += (unsigned __int128)value * value;
        assert_squares(h, sum);
    }
    dlex_histogram_merge(merged, h);
    for (int times = 2; times <= 10; times++) {
        dlex_histogram_merge(merged, h);
        assert_squares(merged, sum * (unsigned)times);
    }
    free(merged);
    free(h);
}
END_TEST
#endif

START_TEST(empty_histogram_is_all_zero)
{
    struct histogram *h = new_histogram();
    const struct histogram_summary s = dlex_histogram_summarise(h);
    ck_assert_uint_eq(s.count, 0);
    ck_assert_int_eq(s.min_ns, 0);
    ck_assert_int_eq(s.max_ns, 0);
    ck_assert_int_eq(s.p99_ns, 0);
    free(h);
}
END_TEST

START_TEST(equal_values_have_every_percentile_exact)
{
    for (int64_t value = 1; value < INT64_C(1) << 46; value = value * 3 + 1) {
        struct histogram *h = new_histogram();
        for (int i = 0; i < 10; i++)
            dlex_histogram_add(h, value);
        const struct histogram_summary s = dlex_histogram_summarise(h);
        ck_assert_int_eq(s.p50_ns, value);
        ck_assert_int_eq(s.p99_ns, value);
        free(h);
    }
}
END_TEST

START_TEST(every_bucket_begins_where_the_one_before_ends)
{
    ck_assert_int_eq(dlex_histogram_bucket(0).low_ns, 0);
    for (int i = 1; i < HISTOGRAM_BUCKETS; i++) {
        const struct histogram_range r = dlex_histogram_bucket(i);
        ck_assert_int_eq(r.low_ns, dlex_histogram_bucket(i - 1).high_ns + 1);
        ck_assert_int_le(r.low_ns, r.high_ns);
    }
    ck_assert_int_eq(dlex_histogram_bucket(HISTOGRAM_BUCKETS - 1).high_ns, INT64_MAX);
}
END_TEST

START_TEST(bounds_of_a_bucket_fall_into_it)
{
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        struct histogram *h = new_histogram();
        const struct histogram_range r = dlex_histogram_bucket(i);
        dlex_histogram_add(h, r.low_ns);
        dlex_histogram_add(h, r.high_ns);
        ck_assert_uint_eq(h->buckets[i], 2);
        free(h);
    }
}
END_TEST

START_TEST(negative_and_enormous_values_are_kept_at_the_ends)
{
    struct histogram *h = new_histogram();
    dlex_histogram_add(h, INT64_MIN);
    dlex_histogram_add(h, INT64_MAX);
    const struct histogram_summary s = dlex_histogram_summarise(h);
    ck_assert_uint_eq(s.count, 2);
    ck_assert_int_eq(s.min_ns, 0);
    ck_assert_int_eq(s.max_ns, INT64_MAX);
    ck_assert_double_eq_tol(s.mean_ns / 0x1p62, 1, 1e-12);
    ck_assert_double_eq_tol(s.stddev_ns / 0x1p62, 1, 1e-9);
    free(h);
}
END_TEST

START_TEST(merging_equals_adding_all_to_one)
{
    struct histogram *parts[2] = { new_histogram(), new_histogram() }, *sum = new_histogram();
    int64_t values[1000];
    uint64_t state = 7;
    for (int i = 0; i < 1000; i++) {
        values[i] = any_duration(&state);
        dlex_histogram_add(parts[i % 3 == 0], values[i]);
    }
    dlex_histogram_merge(sum, parts[0]);
    dlex_histogram_merge(sum, parts[1]);
    assert_summary_of(sum, values, 1000);
    dlex_histogram_clear(sum);
    ck_assert_uint_eq(dlex_histogram_count(sum), 0);
    ck_assert_int_eq(dlex_histogram_summarise(sum).max_ns, 0);
    free(parts[0]);
    free(parts[1]);
    free(sum);
}
END_TEST

static pthread_barrier_t all_are_ready;

static void *add_many(void *arg)
{
    pthread_barrier_wait(&all_are_ready);
    for (int i = 1; i <= 10 * MANY; i++)
        dlex_histogram_add(arg, (int64_t)i << 20);
    return NULL;
}

/* The squares of these values wrap the low word of their sum again and again. */
static void add_from_threads(struct histogram *h, int n)
{
    pthread_t threads[4];
    pthread_barrier_init(&all_are_ready, NULL, (unsigned)n);
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, add_many, h), 0);
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&all_are_ready);
}

START_TEST(threads_lose_no_value)
{
    struct histogram *h = new_histogram(), *in_turn = new_histogram();
    add_from_threads(h, 4);
    for (int i = 0; i < 4; i++)
        add_from_threads(in_turn, 1);
    ck_assert_uint_eq(dlex_histogram_count(in_turn), 40 * MANY);
    ck_assert_mem_eq(h, in_turn, sizeof(*h));
    free(h);
    free(in_turn);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        summary_is_that_of_the_values,
        deviation_of_a_microsecond_in_a_second_is_kept,
#ifdef __SIZEOF_INT128__
        squares_add_up_exactly_in_128_bits,
#endif
        empty_histogram_is_all_zero,
        equal_values_have_every_percentile_exact,
        every_bucket_begins_where_the_one_before_ends,
        bounds_of_a_bucket_fall_into_it,
        negative_and_enormous_values_are_kept_at_the_ends,
        merging_equals_adding_all_to_one,
        threads_lose_no_value,
        NULL,
    };
    return suite_run("libdlex histogram", 120, tests);
}
