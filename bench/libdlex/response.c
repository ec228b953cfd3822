/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "response.h"

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <dlex/dlex.h>

#include "raw_timer.h"

/* The sides of one comparison; libdlex is the first. With more than two sides, one side would
 * follow another more often than the reverse. That would affect whether its code and data are in
 * the caches. */
enum { OURS, RAW, SIDES };

/*
 * Constraints are drawn at random between these bounds, so that the samples are not in step with
 * the tick.
 */
enum { LEAST_NS = 100000, MOST_NS = 900000 };
enum { EARLY_LEAST_NS = 5000, EARLY_MOST_NS = 100000 };

static struct raw_timer wall_timer, cpu_timer;

static int64_t draw_ns(uint32_t *random, int32_t least_ns, int32_t most_ns)
{
    *random = *random * 1664525 + 1013904223;
    return least_ns + (uint64_t)(*random >> 1) * (most_ns - least_ns) / INT32_MAX;
}

static void compute(void)
{
    for (;;)
        __asm__ __volatile__("");
}

static int64_t deadline_response_ns(int64_t delay_ns)
{
    volatile int64_t late_ns = -1; /* survives the jump */
    dlex_try_within_rel(delay_ns) {
        compute();
    } dlex_handle dlex_when(dlex_deadline_violation) {
        late_ns = dlex_expired_ns();
    } dlex_end
    return late_ns;
}

static int64_t wcet_response_ns(int64_t delay_ns)
{
    volatile int64_t late_ns = -1; /* survives the jump */
    dlex_try_within_wcet(delay_ns) {
        compute();
    } dlex_handle dlex_when(dlex_wcet_violation) {
        late_ns = dlex_expired_ns();
    } dlex_end
    return late_ns;
}

static int64_t wall_timer_response_ns(int64_t delay_ns)
{
    return raw_timer_latency_ns(&wall_timer, delay_ns);
}

static int64_t cpu_timer_response_ns(int64_t delay_ns)
{
    return raw_timer_latency_ns(&cpu_timer, delay_ns);
}

typedef int64_t response_fn(int64_t delay_ns);

/* The quantiles of each side, for each round. */
struct contest {
    response_fn *const *sides;
    double p50_ns[SIDES][ROUNDS_MOST];
    double p99_ns[SIDES][ROUNDS_MOST];
};

/* The sides take turns sample by sample. Each turn begins with the other side than the turn before,
 * and both sides of a turn have the same duration. So each side follows itself as often as it
 * follows the other. */
static void run_round(struct contest *contest, size_t round, size_t samples, double *late_ns,
                      uint32_t *random)
{
    for (size_t i = 0; i < samples; i++) {
        const int64_t delay_ns = draw_ns(random, LEAST_NS, MOST_NS);
        for (int turn = 0; turn < SIDES; turn++) {
            const int which = (i + turn) % SIDES;
            late_ns[which * samples + i] = contest->sides[which](delay_ns);
        }
    }
    for (int which = 0; which < SIDES; which++) {
        double *sorted = late_ns + which * samples;
        stats_sort(sorted, samples);
        contest->p50_ns[which][round] = stats_quantile(sorted, samples, 0.50);
        contest->p99_ns[which][round] = stats_quantile(sorted, samples, 0.99);
    }
}

static void run_contest(struct contest *contest, size_t rounds, size_t samples)
{
    double *late_ns = calloc(SIDES * samples, sizeof(*late_ns));
    uint32_t random = 1;
    if (!late_ns)
        abort();
    for (size_t round = 0; round < rounds; round++)
        run_round(contest, round, samples, late_ns, &random);
    free(late_ns);
}

static const struct figure deadline_p50 = {
    .what = "deadline to handler, p50",
    .against = "raw timer to its handler",
    .goal_text = "<= 1.15",
    .goal = 1.15,
};
static const struct figure deadline_p99 = {
    .what = "deadline to handler, p99",
    .against = "raw timer to its handler",
    .goal_text = "<= 1.5",
    .goal = 1.5,
};
static const struct figure wcet_p50 = {
    .what = "WCET to handler, p50",
    .against = "raw timer to its handler",
    .goal_text = "<= 1.3",
    .goal = 1.3,
};
static const struct figure wcet_cpu_p50 = {
    .what = "WCET to handler, p50",
    .against = "raw CPU-time timer",
    .goal_text = "<= 1/50",
    .goal = 1.0 / 50,
};

static void measure_deadlines(struct figures *figures, size_t rounds, size_t samples)
{
    static response_fn *const sides[] = {deadline_response_ns, wall_timer_response_ns};
    static struct contest contest = {.sides = sides};
    run_contest(&contest, rounds, samples);
    figures_add(figures, deadline_p50, contest.p50_ns[OURS], contest.p50_ns[RAW], rounds);
    figures_add(figures, deadline_p99, contest.p99_ns[OURS], contest.p99_ns[RAW], rounds);
}

static void measure_wcets(struct figures *figures, struct figure figure, response_fn *raw,
                          size_t rounds, size_t samples)
{
    response_fn *const sides[] = {wcet_response_ns, raw};
    static struct contest contest;
    contest.sides = sides;
    run_contest(&contest, rounds, samples);
    figures_add(figures, figure, contest.p50_ns[OURS], contest.p50_ns[RAW], rounds);
}

void response_measure(struct figures *figures, size_t rounds, size_t samples)
{
    if (raw_timer_init(&wall_timer, CLOCK_MONOTONIC) ||
        raw_timer_init(&cpu_timer, CLOCK_THREAD_CPUTIME_ID)) {
        figures_add_failure(figures, deadline_p50, "the kernel gives no timer");
        return;
    }
    measure_deadlines(figures, rounds, samples);
    measure_wcets(figures, wcet_p50, wall_timer_response_ns, rounds, samples);
    measure_wcets(figures, wcet_cpu_p50, cpu_timer_response_ns, rounds, samples);
    raw_timer_finish(&wall_timer);
    raw_timer_finish(&cpu_timer);
}

/*
 * Returns whether the violation came early. This is judged by the benchmark's own reading of the
 * clock before the block opens; the library's is not used.
 */
static int is_early(int64_t wcet_ns)
{
    volatile int early = 1; /* survives the jump; 1, because a body that ends by itself would be wrong too */
    const int64_t used_up_ns = dlex_cpu_ns() + wcet_ns;
    dlex_try_within_wcet(wcet_ns) {
        compute();
    } dlex_handle dlex_when(dlex_wcet_violation) {
        early = dlex_cpu_ns() < used_up_ns;
    } dlex_end
    return early;
}

void response_count_early(struct figures *figures, size_t aborts)
{
    const struct figure figure = {
        .what = "WCET violations that come early",
        .against = "the thread's CPU time",
        .goal_text = "none",
        .goal = 0,
    };
    size_t early = 0;
    uint32_t random = 1;
    for (size_t i = 0; i < aborts; i++)
        early += is_early(draw_ns(&random, EARLY_LEAST_NS, EARLY_MOST_NS));
    figures_add_count(figures, figure, early, aborts);
}
