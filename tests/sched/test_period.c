/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rate of one thread. Not covered: real threads, which the laboratory observes. */
#include "period.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "made_up_events.h"
#include "standard_rate.h"
#include "suite.h"

#define MS INT64_C(1000000)

static struct made_up_events made_up;
static struct period_work work;

static const struct standard_rate film_rates[] = {
    {24000, 1001}, {24, 1}, {25, 1}, {30000, 1001}, {30, 1}, {50, 1}, {60000, 1001}, {60, 1},
};
enum { FILM_RATES = sizeof film_rates / sizeof film_rates[0] };

/* Begins a new thread. */
static struct sim_random begin(uint64_t seed)
{
    struct sim_random random;
    sim_random_init(&random, seed);
    made_up.count = 0;
    return random;
}

static struct period detect(double observed_s)
{
    struct period found;
    ck_assert_int_eq(period_detect(&found, made_up.events, made_up.count, (int64_t)(observed_s * 1e9), &work), 0);
    return found;
}

static struct period detect_train(struct made_up_train train, double observed_s, uint64_t seed)
{
    struct sim_random random = begin(seed);
    train.phase = sim_random_uniform(&random);
    made_up_train(&made_up, &train, 0, observed_s, &random);
    return detect(observed_s);
}

static void expect_rate(const struct period *found, struct standard_rate rate, uint64_t seed)
{
    ck_assert_msg(found->verdict == PERIOD_FOUND && found->rates == 1, "%d/%d, seed %d: %d rates, verdict %d",
                  rate.numerator, rate.denominator, (int)seed, found->rates, (int)found->verdict);
    const struct standard_rate named = standard_rate_of(found->rate[0].hz, found->rate[0].sd_hz);
    ck_assert_msg(named.numerator == rate.numerator && named.denominator == rate.denominator,
                  "%d/%d, seed %d: %.4f Hz, s.e. %.4f", rate.numerator, rate.denominator, (int)seed, found->rate[0].hz,
                  found->rate[0].sd_hz);
}

START_TEST(film_rates_are_told_apart_after_four_seconds)
{
    for (int i = 0; i < FILM_RATES; i++) {
        for (uint64_t seed = 1; seed <= 25; seed++) {
            const struct made_up_train train = {.hz = standard_rate_hz(film_rates[i]), .jitter_ms = 1};
            const struct period found = detect_train(train, 4, seed);
            expect_rate(&found, film_rates[i], seed);
        }
    }
}
END_TEST

START_TEST(lost_and_additional_events_do_not_matter)
{
    for (int i = 0; i < FILM_RATES; i++) {
        for (uint64_t seed = 1; seed <= 25; seed++) {
            struct sim_random random = begin(seed);
            const double hz = standard_rate_hz(film_rates[i]);
            const struct made_up_train train = {.hz = hz, .phase = 0.3, .jitter_ms = 0.5, .lost = 0.2};
            made_up_train(&made_up, &train, 0, 4, &random);
            made_up_noise(&made_up, hz / 5, 0, 4, &random);
            const struct period found = detect(4);
            expect_rate(&found, film_rates[i], seed);
        }
    }
}
END_TEST

/* The standard error is right if the estimates scatter as it says. */
START_TEST(estimates_scatter_as_the_standard_error_says)
{
    enum { ROUNDS = 200 };
    double squares = 0;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        const struct period found = detect_train((struct made_up_train){.hz = 24, .jitter_ms = 2}, 4, seed);
        ck_assert_int_ge(found.rates, 1);
        squares += pow((found.rate[0].hz - 24) / found.rate[0].sd_hz, 2) / ROUNDS;
    }
    ck_assert_double_ge(squares, 0.7);
    ck_assert_double_le(squares, 1.5);
}
END_TEST

/* Adds a train whose deviations wander: neighbours deviate alike, as if another thread's period or a busy CPU moved them. */
static void add_wandering_train(double hz, double jitter_ms, struct sim_random *random)
{
    static const double alike = 0.8; /* correlation of neighbours */
    double deviation = sim_random_normal(random);
    for (int job = 0; job < 4 * hz; job++) {
        deviation = alike * deviation + sqrt(1 - alike * alike) * sim_random_normal(random);
        const double time_s = 0.05 + job / hz + jitter_ms / 1e3 * deviation;
        made_up.events[made_up.count++] = (struct thread_event){.time_ns = llround(time_s * 1e9)};
    }
}

START_TEST(standard_error_knows_that_neighbours_deviate_alike)
{
    enum { ROUNDS = 200 };
    double squares = 0;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct sim_random random = begin(seed);
        add_wandering_train(50, 1, &random);
        const struct period found = detect(4);
        ck_assert_int_ge(found.rates, 1);
        squares += pow((found.rate[0].hz - 50) / found.rate[0].sd_hz, 2) / ROUNDS;
    }
    ck_assert_double_ge(squares, 0.5);
    ck_assert_double_le(squares, 3);
}
END_TEST

/* Observed in mpv at 30 Hz: what is done for the sound, at almost a third of the rate, passes by the phase of the pictures. */
START_TEST(train_that_another_one_passes_by_slowly)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct sim_random random = begin(seed);
        const struct made_up_train pictures = {.hz = 30, .phase = 0.3, .jitter_ms = 0.1, .lost = 0.1};
        const struct made_up_train sound = {.hz = 10.015, .phase = 0.09, .jitter_ms = 0.1};
        made_up_train(&made_up, &pictures, 0, 4, &random);
        made_up_train(&made_up, &sound, 0, 4, &random);
        const struct period found = detect(4);
        ck_assert_int_ge(found.rates, 1);
        ck_assert_msg(fabs(found.rate[0].hz - 30) < 0.002, "seed %d: %.4f Hz, s.e. %.4f", (int)seed, found.rate[0].hz,
                      found.rate[0].sd_hz);
    }
}
END_TEST

START_TEST(rate_of_a_train_without_jitter)
{
    static const double rates_hz[] = {5, 7.5, 10, 15, 20, 24, 25, 40, 46.875, 60, 75, 100, 120, 144, 190};
    for (size_t i = 0; i < sizeof rates_hz / sizeof rates_hz[0]; i++) {
        const struct period found = detect_train((struct made_up_train){.hz = rates_hz[i]}, 6, i + 1);
        ck_assert_int_eq(found.verdict, PERIOD_FOUND);
        ck_assert_int_eq(found.rates, 1);
        ck_assert_double_eq_tol(found.rate[0].hz, rates_hz[i], 1e-4 * rates_hz[i]);
        ck_assert_double_ge(found.rate[0].regularity, 0.99);
    }
}
END_TEST

START_TEST(random_events_are_not_periodic)
{
    static const double rates_hz[] = {25, 60, 120, 300};
    for (int i = 0; i < 4; i++) {
        for (uint64_t seed = 1; seed <= 50; seed++) {
            struct sim_random random = begin(seed);
            made_up_noise(&made_up, rates_hz[i], 0, 4, &random);
            const struct period found = detect(4);
            ck_assert_msg(found.verdict == PERIOD_NONE, "%.0f events per second, seed %d: verdict %d, %.3f Hz", rates_hz[i],
                          (int)seed, (int)found.verdict, found.rate[0].hz);
        }
    }
}
END_TEST

START_TEST(few_events_are_no_verdict)
{
    ck_assert_int_eq(detect_train((struct made_up_train){.hz = 25}, 0.3, 1).verdict, PERIOD_UNKNOWN);
    struct sim_random random = begin(1);
    made_up_noise(&made_up, 4, 0, 4, &random);
    ck_assert_int_eq(detect(4).verdict, PERIOD_UNKNOWN);
    begin(1);
    ck_assert_int_eq(detect(4).verdict, PERIOD_UNKNOWN);
}
END_TEST

/* The peak at 0 Hz reaches into the range of rates if a burst is short. The search for its fundamental did not end then. */
START_TEST(burst_is_no_verdict)
{
    static const double gaps_s[] = {0.0025, 0.005, 0.01, 0.015, 0.02};
    for (size_t i = 0; i < sizeof gaps_s / sizeof gaps_s[0]; i++) {
        begin(1);
        for (int job = 0; job < 20; job++)
            made_up.events[made_up.count++] = (struct thread_event){.time_ns = llround(1e9 * gaps_s[i] * job)};
        const struct period found = detect(4);
        ck_assert_msg(found.rates == 0 || fabs(found.rate[0].hz * gaps_s[i] - 1) < 0.01, "gaps of %g s: %.4f Hz", gaps_s[i],
                      found.rate[0].hz);
    }
}
END_TEST

START_TEST(one_second_of_a_regular_film_is_enough)
{
    for (uint64_t seed = 1; seed <= 25; seed++) {
        const struct period found = detect_train((struct made_up_train){.hz = 25, .jitter_ms = 0.5}, 1, seed);
        ck_assert_int_eq(found.verdict, PERIOD_FOUND);
        ck_assert_double_eq_tol(found.rate[0].hz, 25, 0.1);
    }
}
END_TEST

/* 1 + 2 ms at the beginning of each period; both events are one job. */
START_TEST(events_of_one_job_count_once_and_their_cpu_time_adds_up)
{
    struct sim_random random = begin(1);
    made_up_train(&made_up, &(struct made_up_train){.hz = 25, .phase = 0.2, .jitter_ms = 0.1, .cpu_ms = 1}, 0, 4, &random);
    made_up_train(&made_up, &(struct made_up_train){.hz = 25, .phase = 0.225, .jitter_ms = 0.1, .cpu_ms = 2}, 0, 4, &random);
    const struct period found = detect(4);
    ck_assert_int_eq(found.rates, 1);
    ck_assert_double_eq_tol(found.rate[0].hz, 25, 0.01);
    ck_assert_double_ge(found.rate[0].regularity, 0.99);
    ck_assert_int_le(llabs(found.cpu_per_period_ns - 3 * MS), MS / 20);
    ck_assert_double_eq_tol(found.cpu_share, 0.075, 0.001);
}
END_TEST

/* A thread that wakes up twice in a period, 16 ms apart, has a stronger second multiple. */
START_TEST(two_jobs_in_a_period_do_not_double_the_rate)
{
    for (uint64_t seed = 1; seed <= 25; seed++) {
        struct sim_random random = begin(seed);
        made_up_train(&made_up, &(struct made_up_train){.hz = 25, .phase = 0.1, .jitter_ms = 0.5}, 0, 4, &random);
        made_up_train(&made_up, &(struct made_up_train){.hz = 25, .phase = 0.5, .jitter_ms = 0.5}, 0, 4, &random);
        const struct period found = detect(4);
        ck_assert_int_ge(found.rates, 1);
        ck_assert_double_eq_tol(found.rate[0].hz, 25, 0.02);
    }
}
END_TEST

START_TEST(film_on_a_display_of_60_hz_has_its_own_rate)
{
    static const double rows[][2] = {{24, 60}, {24000.0 / 1001, 60000.0 / 1001}, {25, 60}, {30, 60}};
    for (int i = 0; i < 4; i++) {
        for (double observed_s = 4; observed_s <= 8; observed_s += 2) {
            struct sim_random random = begin((uint64_t)i + 1);
            const struct made_up_train train = {.hz = rows[i][0], .phase = 0.3, .jitter_ms = 0.3, .display_hz = rows[i][1]};
            made_up_train(&made_up, &train, 0, observed_s, &random);
            const struct period found = detect(observed_s);
            ck_assert_int_eq(found.rates, 1);
            ck_assert_double_eq_tol(found.rate[0].hz, rows[i][0], 0.02);
        }
    }
}
END_TEST

static double distance_to_nearest(const struct period *found, double hz)
{
    double distance = INFINITY;
    for (int r = 0; r < found->rates; r++)
        distance = fmin(distance, fabs(found->rate[r].hz - hz));
    return distance;
}

/* Pictures, and sound in blocks of 1024 samples at 48 or 44.1 kHz; and 20 Hz of something else. */
START_TEST(two_rates_of_one_thread_are_both_found)
{
    static const double pairs[][2] = {{25, 46.875}, {24, 46.875}, {25, 43.066}, {20, 25}};
    for (int i = 0; i < 4; i++) {
        for (uint64_t seed = 1; seed <= 10; seed++) {
            struct sim_random random = begin(seed);
            for (int k = 0; k < 2; k++) {
                const struct made_up_train train = {.hz = pairs[i][k], .phase = sim_random_uniform(&random), .jitter_ms = 0.5};
                made_up_train(&made_up, &train, 0, 4, &random);
            }
            const struct period found = detect(4);
            for (int k = 0; k < 2; k++)
                ck_assert_msg(distance_to_nearest(&found, pairs[i][k]) < 0.05, "%.3f and %.3f Hz, seed %d: %.3f and %.3f Hz",
                              pairs[i][0], pairs[i][1], (int)seed, found.rate[0].hz, found.rate[1].hz);
        }
    }
}
END_TEST

/* After half of the time the film changes: whatever is found is one of both rates. */
START_TEST(changed_rate_is_one_of_both)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct sim_random random = begin(seed);
        made_up_train(&made_up, &(struct made_up_train){.hz = 24, .jitter_ms = 0.5}, 0, 4, &random);
        made_up_train(&made_up, &(struct made_up_train){.hz = 50, .jitter_ms = 0.5}, 4, 8, &random);
        const struct period found = detect(8);
        ck_assert_int_ge(found.rates, 1);
        ck_assert_double_le(fmin(fabs(found.rate[0].hz - 24), fabs(found.rate[0].hz - 50)), 0.05);
    }
}
END_TEST

START_TEST(only_the_last_eight_seconds_count)
{
    struct sim_random random = begin(1);
    made_up_train(&made_up, &(struct made_up_train){.hz = 100}, 0, 20, &random);
    made_up_train(&made_up, &(struct made_up_train){.hz = 24, .jitter_ms = 0.5}, 20, 28.1, &random);
    const struct period found = detect(28.1);
    ck_assert_int_eq(found.rates, 1);
    ck_assert_double_eq_tol(found.rate[0].hz, 24, 0.01);
}
END_TEST

START_TEST(wrong_order_is_refused)
{
    const struct thread_event events[] = {{.time_ns = 2}, {.time_ns = 1}};
    struct period found;
    ck_assert_int_eq(period_detect(&found, events, 2, 10, &work), -EINVAL);
    ck_assert_int_eq(period_detect(&found, events, 1, 0, &work), -EINVAL);
}
END_TEST

/* A decoder with n threads: each has every n-th picture. After 8 s even 24 Hz in 16 threads are 12 jobs. */
START_TEST(parts_of_a_known_rate_are_recognised)
{
    static const double pictures_hz[] = {24, 25, 30, 60};
    for (int i = 0; i < 4; i++) {
        for (int part = 1; part <= 16; part++) {
            struct sim_random random = begin((uint64_t)part);
            const struct made_up_train train = {.hz = pictures_hz[i] / part, .phase = 0.05, .jitter_ms = 2};
            made_up_train(&made_up, &train, 0, 8, &random);
            ck_assert_int_eq(period_part_of(made_up.events, made_up.count, pictures_hz[i], 16, &work), part);
        }
    }
}
END_TEST

/* One in 1000 may pass. */
START_TEST(random_events_are_no_part_of_a_rate)
{
    int passed = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct sim_random random = begin(seed);
        made_up_noise(&made_up, 20, 0, 4, &random);
        passed += period_part_of(made_up.events, made_up.count, 24, 16, &work) > 0;
    }
    ck_assert_int_le(passed, 2);
}
END_TEST

/* Jobs of 2 and 6 ms in turn, with jitter; the cut between two periods never moves a job. */
START_TEST(cpu_time_of_each_period)
{
    struct sim_random random = begin(1);
    int64_t cpu_ns[200];
    made_up_train(&made_up, &(struct made_up_train){.hz = 12.5, .phase = 0.25, .jitter_ms = 1, .cpu_ms = 2}, 0, 4, &random);
    made_up_train(&made_up, &(struct made_up_train){.hz = 12.5, .phase = 0.75, .jitter_ms = 1, .cpu_ms = 6}, 0, 4, &random);
    const int64_t periods = period_cpu(cpu_ns, 200, made_up.events, made_up.count, 25, &work);
    ck_assert_int_eq(periods, 98);
    for (int64_t i = 0; i < periods; i++)
        ck_assert_int_eq(cpu_ns[i], i % 2 ? 2 * MS : 6 * MS);
    ck_assert_int_eq(period_cpu(cpu_ns, 10, made_up.events, made_up.count, 25, &work), 10);
    ck_assert_int_eq(cpu_ns[9], 2 * MS); /* the last whole period but one has 6 ms, the last 2 */
}
END_TEST

/* A late job has lasted for five periods; the four after it are missing. */
START_TEST(cpu_time_of_a_long_job_counts_in_all_its_periods)
{
    struct thread_event events[96];
    int64_t cpu_ns[100];
    for (int i = 0; i < 96; i++)
        events[i] = (struct thread_event){.time_ns = (i + 4 * (i > 50)) * 40 * MS, .cpu_ns = i == 50 ? 10 * MS : MS};
    for (int i = 0; i < 96; i++)
        events[i].end_ns = events[i].time_ns + (i == 50 ? 5 * 40 - 1 : 20) * MS;
    ck_assert_int_eq(period_cpu(cpu_ns, 100, events, 96, 25, &work), 98);
    for (int i = 0; i < 98; i++)
        ck_assert_int_eq(cpu_ns[i], i >= 49 && i < 54 ? 2 * MS : MS);
}
END_TEST

START_TEST(period_without_a_job_has_no_cpu_time)
{
    struct thread_event events[100];
    int64_t cpu_ns[100];
    for (int i = 0; i < 100; i++)
        events[i] = (struct thread_event){.time_ns = (i + (i >= 50)) * 40 * MS, .cpu_ns = MS};
    ck_assert_int_eq(period_cpu(cpu_ns, 100, events, 100, 25, &work), 99);
    for (int i = 0; i < 99; i++)
        ck_assert_int_eq(cpu_ns[i], i == 49 ? 0 : MS);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        film_rates_are_told_apart_after_four_seconds,
        lost_and_additional_events_do_not_matter,
        estimates_scatter_as_the_standard_error_says,
        standard_error_knows_that_neighbours_deviate_alike,
        train_that_another_one_passes_by_slowly,
        rate_of_a_train_without_jitter,
        random_events_are_not_periodic,
        few_events_are_no_verdict,
        burst_is_no_verdict,
        one_second_of_a_regular_film_is_enough,
        events_of_one_job_count_once_and_their_cpu_time_adds_up,
        two_jobs_in_a_period_do_not_double_the_rate,
        film_on_a_display_of_60_hz_has_its_own_rate,
        two_rates_of_one_thread_are_both_found,
        changed_rate_is_one_of_both,
        only_the_last_eight_seconds_count,
        wrong_order_is_refused,
        parts_of_a_known_rate_are_recognised,
        random_events_are_no_part_of_a_rate,
        cpu_time_of_each_period,
        cpu_time_of_a_long_job_counts_in_all_its_periods,
        period_without_a_job_has_no_cpu_time,
        NULL,
    };
    return suite_run("period", 120, tests);
}
