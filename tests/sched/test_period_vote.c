/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The picture rate of players with several threads. Not covered: real players, which the laboratory observes. */
#include "period_vote.h"

#include <errno.h>
#include <math.h>

#include "made_up_events.h"
#include "suite.h"

enum { THREADS_MAX = 12 };

/* A player that does not exist. */
struct player {
    struct made_up_events made_up[THREADS_MAX];
    struct period_thread threads[THREADS_MAX];
    int count;
    struct sim_random random;
    struct picture_rate rate;
};

static struct player player;
static struct period_work work;
static const double observed_s = 4;

static void begin(uint64_t seed)
{
    player.count = 0;
    sim_random_init(&player.random, seed);
}

/* Adds a thread that uses cpu_ms for each job, and returns its number. */
static int add_thread(double hz, double phase, double jitter_ms, double cpu_ms)
{
    const struct made_up_train train = {.hz = hz, .phase = phase, .jitter_ms = jitter_ms, .cpu_ms = cpu_ms};
    struct made_up_events *const made_up = &player.made_up[player.count];
    made_up->count = 0;
    made_up_train(made_up, &train, 0, observed_s, &player.random);
    return player.count++;
}

/* Adds a thread of a decoder that misses its turn at shift_s: from then on its jobs begin at another phase. */
static int add_shifting_thread(double hz, double phase, double shift_s, double shift, double cpu_ms)
{
    struct made_up_train train = {.hz = hz, .phase = phase, .jitter_ms = 0.5, .cpu_ms = cpu_ms};
    struct made_up_events *const made_up = &player.made_up[player.count];
    made_up->count = 0;
    made_up_train(made_up, &train, 0, shift_s, &player.random);
    train.phase = phase + shift - shift_s * hz;
    train.phase -= floor(train.phase);
    made_up_train(made_up, &train, shift_s, observed_s, &player.random);
    return player.count++;
}

static int add_random_thread(double hz, double cpu_ms)
{
    struct made_up_events *const made_up = &player.made_up[player.count];
    made_up->count = 0;
    made_up_noise(made_up, hz, cpu_ms, observed_s, &player.random);
    return player.count++;
}

static void vote(void)
{
    for (int i = 0; i < player.count; i++)
        player.threads[i] = (struct period_thread){.events = player.made_up[i].events, .count = player.made_up[i].count};
    ck_assert_int_eq(period_vote(&player.rate, player.threads, player.count, (int64_t)(observed_s * 1e9), &work), 0);
}

static void expect_standard(int numerator, int denominator, uint64_t seed)
{
    ck_assert_msg(player.rate.standard.numerator == numerator && player.rate.standard.denominator == denominator,
                  "%d/%d, seed %d: %d/%d, %.4f Hz, s.e. %.4f", numerator, denominator, (int)seed,
                  player.rate.standard.numerator, player.rate.standard.denominator, player.rate.hz, player.rate.sd_hz);
}

/* As mpv was observed: output and decoders at 25 Hz, the main thread at 100, sound and demultiplexer at 20. */
START_TEST(decoders_and_output_win_against_timers)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        begin(seed);
        const int output = add_thread(25, 0.4, 1, 0.06);
        for (int decoder = 0; decoder < 3; decoder++)
            add_thread(25, 0.1 + 0.1 * decoder, 1, 1.1);
        const int main_thread = add_thread(100, 0.5, 0.5, 0.11);
        const int sound = add_thread(20, 0.3, 1, 0.05);
        vote();
        expect_standard(25, 1, seed);
        ck_assert_int_eq(player.rate.threads, 4);
        ck_assert_int_eq(player.threads[output].part, 1);
        ck_assert_int_eq(player.threads[main_thread].part, 0);
        ck_assert_double_eq_tol(player.threads[main_thread].hz, 100, 0.1);
        ck_assert_double_eq_tol(player.threads[sound].hz, 20, 0.1);
    }
}
END_TEST

/* Each thread of a frame-parallel decoder has every n-th picture. Five threads and more have too few in 4 s to be sure alone. */
START_TEST(frame_parallel_decoders_work_at_parts_of_the_rate)
{
    static const int rates[] = {24, 30, 60};
    for (int i = 0; i < 3; i++) {
        for (int decoders = 2; decoders <= 8; decoders++) {
            begin((uint64_t)decoders);
            add_thread(rates[i], 0.4, 1, 0.06);
            add_thread(100, 0.5, 0.5, 0.11);
            for (int k = 0; k < decoders; k++)
                add_thread((double)rates[i] / decoders, (k + 0.1) / decoders, 1, 10);
            vote();
            expect_standard(rates[i], 1, (uint64_t)decoders);
            ck_assert_int_eq(player.rate.threads, decoders + 1);
            for (int k = 0; k < decoders; k++)
                ck_assert_msg(player.threads[2 + k].part == decoders, "%d Hz, thread %d of %d has part %d", rates[i], k,
                              decoders, player.threads[2 + k].part);
        }
    }
}
END_TEST

/* Observed in mpv: decoders whose phases shift seem to be faster than a third of the rate, and use most of the CPU time. */
START_TEST(decoders_whose_turns_shift_work_at_a_part_of_the_rate)
{
    static const double hz = 60000.0 / 1001;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        begin(seed);
        add_thread(hz, 0.4, 0.5, 0.06);
        add_thread(hz, 0.5, 1, 0.3);
        for (int k = 0; k < 3; k++)
            add_shifting_thread(hz / 3, 0.1 + k / 3.0, 1.8 + 0.1 * k, seed % 2 && k == 2 ? -0.28 : 0.28, 4);
        vote();
        expect_standard(60000, 1001, seed);
        for (int k = 0; k < 3; k++)
            ck_assert_msg(player.threads[2 + k].part == 3, "seed %d: thread %d has part %d", (int)seed, k,
                          player.threads[2 + k].part);
    }
}
END_TEST

/* Observed in mpv: two decoders whose phases shift in opposite directions seem to be 0.09 Hz too fast and too slow. */
START_TEST(decoders_that_exchange_turns_work_at_a_part_of_the_rate)
{
    static const double hz = 60000.0 / 1001;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        begin(seed);
        add_thread(hz, 0.4, 0.5, 0.06);
        add_thread(hz, 0.5, 1, 0.3);
        add_thread(hz / 3 + 0.09, 0.1, 0.5, 4);
        add_thread(hz / 3 - 0.09, 0.4, 0.5, 4);
        vote();
        expect_standard(60000, 1001, seed);
        ck_assert_int_eq(player.rate.threads, 4);
    }
}
END_TEST

/* A user interface on a display of 60 Hz uses more CPU time than the output of the film. */
START_TEST(decoders_tell_neighbouring_rates_apart)
{
    static const double hz = 60000.0 / 1001;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        begin(seed);
        add_thread(hz, 0.4, 0.3, 0.06);
        add_thread(60, 0.5, 0.3, 0.2);
        for (int k = 0; k < 3; k++)
            add_thread(hz / 3, 0.1 + k / 3.0, 0.3, 4);
        vote();
        expect_standard(60000, 1001, seed);
    }
}
END_TEST

/* Observed in mpv at 29.97 Hz: one decoder followed the sound, 10 times a second and more regularly than all other threads. */
START_TEST(decoder_that_follows_the_sound_does_not_decide_the_rate)
{
    static const double hz = 30000.0 / 1001;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        begin(seed);
        add_thread(hz, 0.4, 2, 4);
        add_thread(hz, 0.5, 2.5, 0.6);
        for (int k = 0; k < 2; k++)
            add_thread(hz / 3, 0.1 + k / 3.0, 2, 4);
        add_thread(10, 0.8, 0.1, 4);
        add_thread(20, 0.6, 0.1, 0.1);
        vote();
        expect_standard(30000, 1001, seed);
    }
}
END_TEST

/* Two threads that agree, and then two that differ by more than their standard errors: that of the rate must grow. */
START_TEST(estimates_that_differ_make_the_rate_uncertain)
{
    begin(1);
    add_thread(50, 0.4, 1, 1);
    add_thread(50, 0.5, 1, 1);
    vote();
    const double alike_hz = player.rate.sd_hz;
    begin(1);
    add_thread(50, 0.4, 1, 1);
    add_thread(50.015, 0.5, 1, 1);
    vote();
    ck_assert_int_eq(player.rate.threads, 2);
    ck_assert_double_gt(player.rate.sd_hz, 2 * alike_hz);
}
END_TEST

/* A user interface at 60 Hz is no sign of 60 pictures per second: decoder and output are no decoder with two threads. */
START_TEST(user_interface_at_twice_the_rate_does_not_win)
{
    begin(1);
    add_thread(30, 0.4, 1, 0.06);
    add_thread(30, 0.1, 1, 4);
    add_thread(60, 0.5, 0.5, 0.2);
    vote();
    expect_standard(30, 1, 1);
}
END_TEST

START_TEST(only_thread_with_two_rates_has_the_usual_one)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        begin(seed);
        add_thread(24000.0 / 1001, 0.3, 0.5, 5);
        const struct made_up_train sound = {.hz = 46.875, .phase = 0.2, .jitter_ms = 0.5, .cpu_ms = 0.5};
        made_up_train(&player.made_up[0], &sound, 0, observed_s, &player.random);
        vote();
        expect_standard(24000, 1001, seed);
    }
}
END_TEST

START_TEST(several_threads_make_the_estimate_more_certain)
{
    begin(1);
    add_thread(24, 0.4, 2, 1);
    vote();
    const double alone_hz = player.rate.sd_hz;
    for (int i = 0; i < 3; i++)
        add_thread(24, 0.1 * i, 2, 1);
    vote();
    ck_assert_double_lt(player.rate.sd_hz, 0.7 * alone_hz);
    ck_assert_double_gt(player.rate.sd_hz, 0.35 * alone_hz);
}
END_TEST

START_TEST(random_threads_do_not_disturb)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        begin(seed);
        add_thread(50, 0.4, 1, 0.06);
        add_thread(50, 0.1, 1, 4);
        const int noisy = add_random_thread(60, 1);
        vote();
        expect_standard(50, 1, seed);
        ck_assert_int_eq(player.threads[noisy].found.verdict, PERIOD_NONE);
    }
}
END_TEST

START_TEST(player_without_a_rate)
{
    begin(1);
    add_random_thread(60, 1);
    vote();
    ck_assert_int_eq(player.rate.verdict, PERIOD_NONE);
    ck_assert_double_eq(player.rate.hz, 0);
    begin(1);
    add_random_thread(1, 1);
    vote();
    ck_assert_int_eq(player.rate.verdict, PERIOD_UNKNOWN);
    begin(1);
    vote();
    ck_assert_int_eq(player.rate.verdict, PERIOD_UNKNOWN);
}
END_TEST

/* Below 10 Hz, if there is nothing else. */
START_TEST(slow_thread_alone_is_elected)
{
    begin(1);
    add_thread(8, 0.2, 0.5, 1);
    vote();
    ck_assert_int_eq(player.rate.verdict, PERIOD_FOUND);
    ck_assert_double_eq_tol(player.rate.hz, 8, 0.02);
}
END_TEST

START_TEST(wrong_order_is_refused)
{
    const struct thread_event events[] = {{.time_ns = 2}, {.time_ns = 1}};
    struct period_thread thread = {.events = events, .count = 2};
    ck_assert_int_eq(period_vote(&player.rate, &thread, 1, 1000, &work), -EINVAL);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        decoders_and_output_win_against_timers,
        frame_parallel_decoders_work_at_parts_of_the_rate,
        decoders_whose_turns_shift_work_at_a_part_of_the_rate,
        decoders_that_exchange_turns_work_at_a_part_of_the_rate,
        decoders_tell_neighbouring_rates_apart,
        decoder_that_follows_the_sound_does_not_decide_the_rate,
        estimates_that_differ_make_the_rate_uncertain,
        user_interface_at_twice_the_rate_does_not_win,
        only_thread_with_two_rates_has_the_usual_one,
        several_threads_make_the_estimate_more_certain,
        random_threads_do_not_disturb,
        player_without_a_rate,
        slow_thread_alone_is_elected,
        wrong_order_is_refused,
        NULL,
    };
    return suite_run("period_vote", 120, tests);
}
