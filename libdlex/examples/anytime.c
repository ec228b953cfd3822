/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An anytime algorithm: a mandatory part gives a first result in any case, and optional parts improve
 * it until the time is over (seed 000, 3.2). Wherever the deadline falls, the result that is used
 * contains the last optional part wholly or not at all.
 *
 * The result is pi, as the integral of 4 / (1 + x^2) from 0 to 1 by the trapezium rule. Each
 * optional part halves the step, which makes the error four times smaller.
 */
#include <stdio.h>
#include <time.h>

#include <dlex/dlex.h>

#define PERIOD_NS (DLEX_MS(150))
#define PI 3.14159265358979323846
enum { LEVELS = 40, PERIODS = 10 };

/* The result of each part, and how many parts are complete: one store makes a result count.
 * dlex_publish() makes sure that what the body has stored before it is in memory, and in this order. */
static double estimate[LEVELS];
static int complete;

static double height_at(double x)
{
    return 4 / (1 + x * x);
}

static void mandatory_part(void)
{
    complete = 0;
    for (int level = 0; level < LEVELS; level++)
        estimate[level] = 0; /* clears the results of the period before */
    estimate[0] = (height_at(0) + height_at(1)) / 2;
    complete = 1;
}

/* Adds the points halfway between those of the previous result. */
static void optional_part(void)
{
    const int level = complete;
    const int64_t points = INT64_C(1) << (level - 1);
    const double step = 1.0 / (double)points;
    double sum = 0;
    for (int64_t i = 0; i < points; i++)
        sum += height_at(((double)i + 0.5) * step);
    estimate[level] = (estimate[level - 1] + sum * step) / 2;
    dlex_publish();
    complete = level + 1;
    dlex_publish();
}

static void compute(int64_t optional_ns)
{
    mandatory_part();
    dlex_try_within_rel(optional_ns) {
        while (complete < LEVELS)
            optional_part();
    } dlex_handle dlex_when(dlex_deadline_violation) {
        /* Nothing to repair: the interrupted part has changed nothing that counts. */
    } dlex_end
}

/* The rule's error is known: step^2 / 6. A result that contains half a part would not have this error. */
static int is_whole(int parts)
{
    const double step = 1.0 / (double)(INT64_C(1) << (parts - 1));
    const double error = PI - estimate[parts - 1], known = step * step / 6;
    return error > known / 2 - 1e-9 && error < known * 2 + 1e-9;
}

static void wait_until(int64_t time_ns)
{
    const struct timespec t = { .tv_sec = time_ns / 1000000000, .tv_nsec = time_ns % 1000000000 };
    dlex_idle();
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0)
        ;
}

int main(void)
{
    int broken = 0;
    int64_t next_ns = dlex_now_ns(), optional_ns = 0;
    for (int period = 0; period < PERIODS; period++) {
        compute(optional_ns);
        const int parts = complete;
        broken += !is_whole(parts);
        printf("%9.3f ms for optional parts: pi = %.12f after %2d of them%s\n",
               (double)optional_ns / DLEX_MS(1), estimate[parts - 1], parts - 1,
               is_whole(parts) ? "" : " (BROKEN)");
        optional_ns = optional_ns ? optional_ns * 4 : 1000;
        wait_until(next_ns += PERIOD_NS);
    }
    printf("%d results, %d broken\n", PERIODS, broken);
    return broken ? 1 : 0;
}
