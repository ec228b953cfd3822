/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sampled spectrum against the sum over all events, point by point. */
#include "spectrum.h"

#include "sim_random.h"
#include "suite.h"

#include <math.h>

enum { EVENTS_MAX = 4096 };
static const double precision = 1e-7; /* as the header promises */

static struct spectrum spectrum;
static int64_t times_ns[EVENTS_MAX];

static void make_events(int count, double span_s)
{
    struct sim_random random;
    sim_random_init(&random, (uint64_t)count);
    for (int i = 0; i < count; i++)
        times_ns[i] = 5000000 + (int64_t)(1e9 * span_s * (i + sim_random_uniform(&random)) / count);
}

static void make_train(int count, double hz)
{
    for (int i = 0; i < count; i++)
        times_ns[i] = INT64_C(1000000000000) + (int64_t)(1e9 * i / hz);
}

static void check(int count, double from_hz, double step_hz, int points)
{
    spectrum_sample(&spectrum, times_ns, count, from_hz, step_hz, points);
    ck_assert_int_eq(spectrum.count, points);
    for (int k = 0; k < points; k++) {
        const double exact = sqrt(spectrum_power_at(times_ns, count, spectrum_hz(&spectrum, k)));
        ck_assert_double_eq_tol(sqrt(spectrum.power[k]), exact, precision * count);
    }
}

START_TEST(sampled_spectrum_is_the_sum_over_all_events)
{
    static const int counts[] = {1, 2, 20, 133, 700};
    for (int i = 0; i < 5; i++)
        for (double span_s = 1; span_s <= 8; span_s *= 2) {
            make_events(counts[i], span_s);
            check(counts[i], 5, 1 / (4 * span_s), (int)(4 * span_s * 195) + 1);
        }
}
END_TEST

START_TEST(train_has_all_its_power_at_its_rate)
{
    make_train(201, 25);
    check(201, 5, 0.03125, 6241);
    ck_assert_double_eq_tol(sqrt(spectrum.power[640]), 201, 1e-4);
}
END_TEST

/* The paper's detector samples 10 to 200 Hz with steps of 1 Hz, also if it has watched for several seconds. */
START_TEST(step_may_be_wider_than_the_inverse_of_the_span)
{
    make_events(1000, 8);
    check(1000, 10, 1, 191);
}
END_TEST

/* The points just below 1.25 to a power of 2 have the least room on the grid, and so have the most points of all. */
START_TEST(any_number_of_points_is_possible)
{
    static const int points[] = {1, 2, 3, 51, 52, 409, 410, 6553, 6554, SPECTRUM_MAX};
    make_events(50, 4);
    for (int i = 0; i < 10; i++)
        check(50, 5, 0.02, points[i]);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        sampled_spectrum_is_the_sum_over_all_events,
        train_has_all_its_power_at_its_rate,
        step_may_be_wider_than_the_inverse_of_the_span,
        any_number_of_points_is_possible,
        NULL,
    };
    return suite_run("spectrum", SUITE_TIMEOUT_DEFAULT, tests);
}
