/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The detector as the paper has it, with its known failures. Not covered: real players, which the laboratory observes. */
#include "period_paper.h"

#include <errno.h>

#include "made_up_events.h"
#include "suite.h"

static struct spectrum spectrum;

/* A spectrum of the paper's range that is zero but for these peaks of F. */
static struct period_paper choose(const double (*peaks)[2], int count)
{
    struct period_paper found;
    spectrum = (struct spectrum){.from_hz = 10, .step_hz = 1, .count = 191};
    for (int i = 0; i < count; i++)
        spectrum.power[spectrum_point(&spectrum, peaks[i][0])] = peaks[i][1] * peaks[i][1];
    period_paper_choose(&found, &period_paper_defaults, &spectrum);
    return found;
}

START_TEST(flat_spectrum_is_not_periodic)
{
    struct period_paper found;
    spectrum = (struct spectrum){.from_hz = 10, .step_hz = 1, .count = 191};
    for (int k = 0; k < 191; k++)
        spectrum.power[k] = 1;
    period_paper_choose(&found, &period_paper_defaults, &spectrum);
    ck_assert_int_eq(found.step, PAPER_NOT_PERIODIC);
    ck_assert_double_eq(found.hz, 0);
}
END_TEST

START_TEST(one_or_two_candidates_give_the_largest)
{
    struct period_paper found = choose((const double[][2]){{25, 5}}, 1);
    ck_assert_int_eq(found.step, PAPER_FEW);
    ck_assert_double_eq(found.hz, 25);
    found = choose((const double[][2]){{25, 5}, {50, 6}}, 2);
    ck_assert_int_eq(found.step, PAPER_FEW);
    ck_assert_double_eq(found.hz, 50);
}
END_TEST

/* The largest is the third multiple; the regression finds the first. */
START_TEST(regression_finds_the_first_harmonic)
{
    const struct period_paper found = choose((const double[][2]){{25, 5}, {50, 6}, {75, 9}, {100, 4}}, 4);
    ck_assert_int_eq(found.step, PAPER_REGRESSION);
    ck_assert_int_eq(found.candidates, 4);
    ck_assert_double_eq_tol(found.slope_hz, 25, 1e-9);
    ck_assert_double_eq(found.hz, 25);
}
END_TEST

/* f = 25, 50, 75, 125 against 1, 2, 3, 4: slope 32.5, residuals 5, -2.5, -10, 7.5. */
START_TEST(missing_harmonic_leaves_the_choice_to_the_largest)
{
    struct period_paper found = choose((const double[][2]){{25, 5}, {50, 5}, {75, 5}, {125, 5}}, 4);
    ck_assert_int_eq(found.step, PAPER_LARGEST);
    ck_assert_double_eq_tol(found.slope_hz, 32.5, 1e-9);
    ck_assert_double_eq_tol(found.error_hz2, 46.875, 1e-9);
    ck_assert_double_eq(found.hz, 25);
    found = choose((const double[][2]){{25, 5}, {50, 5}, {75, 6}, {125, 5}}, 4);
    ck_assert_double_eq(found.hz, 75);
}
END_TEST

/* The regression weighs candidates by F: the residual of a candidate next to nothing counts next to nothing. */
START_TEST(regression_is_weighted)
{
    const struct period_paper equal = choose((const double[][2]){{25, 5}, {50, 5}, {76, 5}}, 3);
    ck_assert_int_eq(equal.step, PAPER_REGRESSION); /* residuals 1/6, -1/3, 1/6: 1/18 */
    ck_assert_double_eq_tol(equal.error_hz2, 1.0 / 18, 1e-9);
    const struct period_paper wrong = choose((const double[][2]){{25, 5}, {50, 5}, {77, 5}}, 3);
    ck_assert_int_eq(wrong.step, PAPER_LARGEST); /* 2/9 */
    const struct period_paper weak = choose((const double[][2]){{25, 50}, {50, 50}, {77, 2}}, 3); /* 0.065 */
    ck_assert_int_eq(weak.step, PAPER_REGRESSION);
}
END_TEST

/* As with mplayer at 60 pictures per second. */
START_TEST(peaks_that_are_no_multiples_of_their_distance_deceive_it)
{
    const struct period_paper found = choose((const double[][2]){{50, 5}, {60, 9}, {70, 5}}, 3);
    ck_assert_int_eq(found.step, PAPER_REGRESSION);
    ck_assert_double_eq_tol(found.slope_hz, 10, 1e-9);
    ck_assert_double_eq(found.hz, 50);
}
END_TEST

START_TEST(candidates_exceed_the_mean_by_the_factor)
{
    struct spectrum *const s = &spectrum;
    struct period_paper found;
    *s = (struct spectrum){.from_hz = 10, .step_hz = 1, .count = 100};
    for (int k = 0; k < 100; k++)
        s->power[k] = 1;
    s->power[50] = 2.5 * 2.5; /* the mean is 1.015 */
    period_paper_choose(&found, &period_paper_defaults, s);
    ck_assert_int_eq(found.candidates, 0);
    s->power[50] = 2.6 * 2.6; /* the mean is 1.016, 2.5 times that is 2.54 */
    period_paper_choose(&found, &period_paper_defaults, s);
    ck_assert_int_eq(found.candidates, 1);
}
END_TEST

START_TEST(plateau_is_one_peak_at_its_lower_end_and_the_ends_of_the_range_are_peaks)
{
    struct period_paper found = choose((const double[][2]){{30, 5}, {31, 5}}, 2);
    ck_assert_int_eq(found.candidates, 1);
    ck_assert_double_eq(found.hz, 30);
    found = choose((const double[][2]){{10, 5}, {200, 6}}, 2);
    ck_assert_int_eq(found.candidates, 2);
    ck_assert_double_eq(found.hz, 200);
}
END_TEST

/* Events of a job within 1 ms, as mplayer's in Figure 6. */
static void mplayer(struct made_up_events *made_up, double hz, double until_s, uint64_t seed)
{
    struct sim_random random;
    sim_random_init(&random, seed);
    *made_up = (struct made_up_events){.count = 0};
    for (int event = 0; event < 3; event++) {
        const struct made_up_train train = {.hz = hz, .phase = 0.2 + event * 0.0003 * hz, .jitter_ms = 0.1};
        made_up_train(made_up, &train, 0, until_s, &random);
    }
}

static struct period_paper detect(double hz, double until_s, uint64_t seed)
{
    static struct made_up_events made_up;
    static int64_t times_ns[MADE_UP_MAX];
    struct period_paper found;
    mplayer(&made_up, hz, until_s, seed);
    for (int64_t i = 0; i < made_up.count; i++)
        times_ns[i] = made_up.events[i].time_ns;
    ck_assert_int_eq(period_paper_detect(&found, &period_paper_defaults, times_ns, made_up.count, &spectrum), 0);
    return found;
}

/* Figures 8 and 9: from 0.4 s on, which is ten jobs. */
START_TEST(ten_jobs_at_25_hz_are_enough)
{
    static const double observed_s[] = {0.4, 0.6, 1, 2, 4};
    for (int i = 0; i < 5; i++)
        for (uint64_t seed = 1; seed <= 20; seed++)
            ck_assert_double_eq(detect(25, observed_s[i], seed).hz, 25);
}
END_TEST

START_TEST(film_rates_are_not_told_apart)
{
    ck_assert_double_eq(detect(24, 2, 1).hz, 24);
    ck_assert_double_eq(detect(24000.0 / 1001, 2, 1).hz, 24);
}
END_TEST

START_TEST(impossible_requests_are_refused)
{
    const int64_t time_ns = 0;
    struct period_paper found;
    struct period_paper_options options = period_paper_defaults;
    ck_assert_int_eq(period_paper_detect(&found, &options, &time_ns, 0, &spectrum), -EINVAL);
    options.to_hz = 5;
    ck_assert_int_eq(period_paper_detect(&found, &options, &time_ns, 1, &spectrum), -EINVAL);
    options.to_hz = 200;
    options.step_hz = 0.01;
    ck_assert_int_eq(period_paper_detect(&found, &options, &time_ns, 1, &spectrum), -EINVAL);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        flat_spectrum_is_not_periodic,
        one_or_two_candidates_give_the_largest,
        regression_finds_the_first_harmonic,
        missing_harmonic_leaves_the_choice_to_the_largest,
        regression_is_weighted,
        peaks_that_are_no_multiples_of_their_distance_deceive_it,
        candidates_exceed_the_mean_by_the_factor,
        plateau_is_one_peak_at_its_lower_end_and_the_ends_of_the_range_are_peaks,
        ten_jobs_at_25_hz_are_enough,
        film_rates_are_not_told_apart,
        impossible_requests_are_refused,
        NULL,
    };
    return suite_run("period_paper", 60, tests);
}
