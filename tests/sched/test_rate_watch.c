/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which detections change the known rate. */
#include "rate_watch.h"

#include "suite.h"

#define S INT64_C(1000000000)

static const struct picture_rate none = {.verdict = PERIOD_NONE};
static const struct picture_rate unknown = {.verdict = PERIOD_UNKNOWN};

static struct picture_rate rate(double hz)
{
    return (struct picture_rate){.verdict = PERIOD_FOUND, .hz = hz, .sd_hz = 0.002};
}

static bool add(struct rate_watch *watch, double hz)
{
    const struct picture_rate seen = rate(hz);
    return rate_watch_add(watch, &seen);
}

START_TEST(first_rate_is_taken_at_once)
{
    struct rate_watch watch = {.known = unknown};
    ck_assert(!rate_watch_add(&watch, &unknown));
    ck_assert(add(&watch, 24));
    ck_assert_double_eq(watch.known.hz, 24);
    ck_assert(!add(&watch, 24.001));
}
END_TEST

START_TEST(usual_rate_replaces_an_unusual_one_at_once)
{
    struct rate_watch watch = {.known = rate(125)};
    struct picture_rate usual = rate(25);
    ck_assert(!add(&watch, 37));
    usual.standard = (struct standard_rate){25, 1};
    ck_assert(rate_watch_add(&watch, &usual));
    ck_assert_double_eq(watch.known.hz, 25);
    ck_assert(!add(&watch, 125));
}
END_TEST

START_TEST(usual_rate_replaces_one_that_was_seen_twice_only_when_seen_twice)
{
    struct rate_watch watch = {.known = unknown};
    struct picture_rate usual = rate(30);
    usual.standard = (struct standard_rate){30, 1};
    ck_assert(add(&watch, 15));
    ck_assert(!add(&watch, 15));
    ck_assert(!rate_watch_add(&watch, &usual));
    ck_assert_double_eq(watch.known.hz, 15);
    ck_assert(!add(&watch, 15));
    ck_assert(!rate_watch_add(&watch, &usual));
    ck_assert(rate_watch_add(&watch, &usual));
    ck_assert_double_eq(watch.known.hz, 30);
}
END_TEST

START_TEST(rate_that_has_replaced_another_one_was_seen_twice)
{
    struct rate_watch watch = {.known = rate(24)};
    struct picture_rate usual = rate(30);
    usual.standard = (struct standard_rate){30, 1};
    ck_assert(!add(&watch, 15));
    ck_assert(add(&watch, 15));
    ck_assert(!rate_watch_add(&watch, &usual));
    ck_assert_double_eq(watch.known.hz, 15);
}
END_TEST

START_TEST(another_rate_is_taken_when_seen_twice)
{
    struct rate_watch watch = {.known = rate(24)};
    ck_assert(!add(&watch, 25));
    ck_assert_double_eq(watch.known.hz, 24);
    ck_assert(add(&watch, 25.001));
    ck_assert_double_eq(watch.known.hz, 25.001);
}
END_TEST

START_TEST(known_rate_is_looked_at_less_often_once_it_is_confirmed)
{
    const struct rate_watch watch = {.known = rate(24)};
    struct rate_watch_times times = {.window_ns = 10 * S, .detected_ns = 10 * S, .now_ns = 12 * S - 1};
    ck_assert(!rate_watch_is_due(&watch, &times));
    times.now_ns = 12 * S;
    ck_assert(rate_watch_is_due(&watch, &times));
    times.is_checked = true;
    ck_assert(!rate_watch_is_due(&watch, &times));
    times.now_ns = 14 * S;
    ck_assert(rate_watch_is_due(&watch, &times));
}
END_TEST

START_TEST(program_that_is_not_periodic_is_looked_at_less_often_after_a_while)
{
    struct rate_watch watch = {.known = none};
    struct rate_watch_times times = {.detected_ns = 15 * S / 2, .now_ns = 8 * S - 1};
    ck_assert(rate_watch_is_due(&watch, &times));
    times.now_ns = 8 * S;
    ck_assert(!rate_watch_is_due(&watch, &times));
    times.is_urgent = true;
    ck_assert(rate_watch_is_due(&watch, &times));
    times.is_urgent = false;
    times.now_ns = 23 * S / 2;
    ck_assert(rate_watch_is_due(&watch, &times));
    watch.known = unknown; /* too few jobs to say anything: that costs nothing */
    times.now_ns = 8 * S;
    ck_assert(rate_watch_is_due(&watch, &times));
}
END_TEST

START_TEST(nothing_is_looked_at_before_the_first_second_has_passed)
{
    const struct rate_watch watch = {.known = unknown};
    struct rate_watch_times times = {.begun_ns = 5 * S, .window_ns = 5 * S, .detected_ns = 5 * S, .now_ns = 6 * S - 1};
    ck_assert(!rate_watch_is_due(&watch, &times));
    times.now_ns = 6 * S;
    ck_assert(rate_watch_is_due(&watch, &times));
}
END_TEST

START_TEST(film_rates_that_are_near_are_different)
{
    struct rate_watch watch = {.known = rate(24)};
    ck_assert(!add(&watch, 24000.0 / 1001));
    ck_assert(add(&watch, 24000.0 / 1001));
}
END_TEST

START_TEST(known_rate_in_between_interrupts_the_row)
{
    struct rate_watch watch = {.known = rate(24)};
    ck_assert(!add(&watch, 25));
    ck_assert(!add(&watch, 24));
    ck_assert(!add(&watch, 25));
    ck_assert(add(&watch, 25));
}
END_TEST

START_TEST(two_different_rates_do_not_confirm_each_other)
{
    struct rate_watch watch = {.known = rate(24)};
    ck_assert(!add(&watch, 25));
    ck_assert(!add(&watch, 30));
    ck_assert(!add(&watch, 25));
    ck_assert(!add(&watch, 30));
    ck_assert(add(&watch, 30));
}
END_TEST

START_TEST(pause_changes_nothing)
{
    struct rate_watch watch = {.known = rate(24)};
    for (int i = 0; i < 5; i++)
        ck_assert(!rate_watch_add(&watch, &unknown));
    ck_assert_double_eq(watch.known.hz, 24);
    ck_assert(!add(&watch, 25));
    ck_assert(!rate_watch_add(&watch, &unknown));
    ck_assert(add(&watch, 25));
}
END_TEST

START_TEST(end_of_periodicity_needs_two_and_its_return_one)
{
    struct rate_watch watch = {.known = rate(24)};
    ck_assert(!rate_watch_add(&watch, &none));
    ck_assert_int_eq(watch.known.verdict, PERIOD_FOUND);
    ck_assert(rate_watch_add(&watch, &none));
    ck_assert_int_eq(watch.known.verdict, PERIOD_NONE);
    ck_assert(!rate_watch_add(&watch, &none));
    ck_assert(add(&watch, 50));
}
END_TEST

START_TEST(more_certain_measurement_is_kept)
{
    struct rate_watch watch = {.known = rate(24)};
    struct picture_rate seen = rate(24.002);
    seen.sd_hz = 0.001;
    ck_assert(!rate_watch_add(&watch, &seen));
    ck_assert_double_eq(watch.known.hz, 24.002);
    ck_assert(!add(&watch, 23.999));
    ck_assert_double_eq(watch.known.hz, 24.002);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        first_rate_is_taken_at_once,
        usual_rate_replaces_an_unusual_one_at_once,
        usual_rate_replaces_one_that_was_seen_twice_only_when_seen_twice,
        rate_that_has_replaced_another_one_was_seen_twice,
        another_rate_is_taken_when_seen_twice,
        known_rate_is_looked_at_less_often_once_it_is_confirmed,
        program_that_is_not_periodic_is_looked_at_less_often_after_a_while,
        nothing_is_looked_at_before_the_first_second_has_passed,
        film_rates_that_are_near_are_different,
        known_rate_in_between_interrupts_the_row,
        two_different_rates_do_not_confirm_each_other,
        pause_changes_nothing,
        end_of_periodicity_needs_two_and_its_return_one,
        more_certain_measurement_is_kept,
        NULL,
    };
    return suite_run("rate_watch", SUITE_TIMEOUT_DEFAULT, tests);
}
