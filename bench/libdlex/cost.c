/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cost.h"

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <dlex/dlex.h>

#include "ns.h"
#include "system_calls.h"

#define HOUR_NS (3600 * NS_PER_S)

/*
 * The batches are small and the two sides take turns, so that a change of the machine's speed
 * affects both.
 */
enum { BATCHES = 8 };

struct side {
    void (*run)(int repetitions);
    int repetitions; /* per batch: some 20 us, far above what reading the clock adds */
};

static volatile int64_t sink_ns;

static int64_t read_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return ns_from_timespec(now);
}

/*
 * Each block is a function: a loop counter in the same function as a sigsetjmp would have to be
 * volatile.
 */
static void deadline_block(void)
{
    dlex_try_within_rel(HOUR_NS) {
    } dlex_end
}

static void wcet_block(void)
{
    dlex_try_within_wcet(HOUR_NS) {
    } dlex_end
}

/* Does the minimum that every block with a relative deadline needs: the time from which the
 * deadline counts, and the place to which a violation jumps. */
static void least_of_a_block(void)
{
    sigjmp_buf env;
    if (sigsetjmp(env, 0) != 0)
        abort();
    sink_ns = read_clock_ns(CLOCK_MONOTONIC);
}

static void least_of_blocks(int repetitions)
{
    for (int i = 0; i < repetitions; i++)
        least_of_a_block();
}

static void deadline_blocks(int repetitions)
{
    for (int i = 0; i < repetitions; i++)
        deadline_block();
}

static void wcet_blocks(int repetitions)
{
    for (int i = 0; i < repetitions; i++)
        wcet_block();
}

static timer_t wall_timer, cpu_timer; /* they never expire, so nothing handles their signal */

static void arm_and_disarm(timer_t timer, int repetitions)
{
    const struct itimerspec hour = {.it_value = {.tv_sec = 3600}}, never = {0};
    for (int i = 0; i < repetitions; i++) {
        timer_settime(timer, 0, &hour, NULL);
        timer_settime(timer, 0, &never, NULL);
    }
}

static void wall_timer_pairs(int repetitions)
{
    arm_and_disarm(wall_timer, repetitions);
}

static void cpu_timer_pairs(int repetitions)
{
    arm_and_disarm(cpu_timer, repetitions);
}

static void sections(int repetitions)
{
    for (int i = 0; i < repetitions; i++) {
        dlex_try_within_disable();
        dlex_try_within_enable();
    }
}

static void sigmask_pairs(int repetitions)
{
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    for (int i = 0; i < repetitions; i++) {
        pthread_sigmask(SIG_BLOCK, &set, &old);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
}

static void checkpoints(int repetitions)
{
    dlex_try_within_rel(HOUR_NS) {
        for (int i = 0; i < repetitions; i++)
            dlex_checkpoint();
    } dlex_end
}

static void remaining_times(int repetitions)
{
    dlex_try_within_rel(HOUR_NS) {
        for (int i = 0; i < repetitions; i++)
            sink_ns = dlex_remaining_ns();
    } dlex_end
}

static void clock_readings(int repetitions)
{
    for (int i = 0; i < repetitions; i++)
        sink_ns = read_clock_ns(CLOCK_MONOTONIC);
}

static int64_t batch_ns(const struct side *side)
{
    const int64_t start_ns = read_clock_ns(CLOCK_MONOTONIC);
    side->run(side->repetitions);
    return read_clock_ns(CLOCK_MONOTONIC) - start_ns;
}

/* Measures how long one repetition of each side takes. */
static void measure_round(const struct side sides[2], double once_ns[2])
{
    int64_t total_ns[2] = {0, 0};
    for (int batch = 0; batch < BATCHES; batch++) {
        for (int turn = 0; turn < 2; turn++) {
            const int which = (batch + turn) % 2;
            total_ns[which] += batch_ns(&sides[which]);
        }
    }
    for (int which = 0; which < 2; which++)
        once_ns[which] = (double)total_ns[which] / (BATCHES * sides[which].repetitions);
}

static void compare(struct figures *figures, struct figure figure, struct side ours,
                    struct side raw, size_t rounds)
{
    static double ours_ns[ROUNDS_MOST], raw_ns[ROUNDS_MOST];
    const struct side sides[2] = {ours, raw};
    double once_ns[2];
    measure_round(sides, once_ns); /* the first one pays for cold caches and the thread's timer */
    for (size_t i = 0; i < rounds; i++) {
        measure_round(sides, once_ns);
        ours_ns[i] = once_ns[0];
        raw_ns[i] = once_ns[1];
    }
    figures_add(figures, figure, ours_ns, raw_ns, rounds);
}

/*
 * Runs the sections in a process that the kernel kills at its first system call. As a control, the
 * sigmask pair must be killed there.
 */
static void check_system_calls(struct figures *figures)
{
    const struct figure figure = {
        .what = "system calls in 10^6 protected sections",
        .against = "seccomp",
        .kind = FIGURE_COUNT,
        .goal_text = "none",
        .goal = 0,
    };
    const int control = system_calls_made(sigmask_pairs, 1);
    const int made = system_calls_made(sections, 1000000);
    if (control == 1 && made >= 0)
        figures_add_count(figures, figure, made, 1000000);
    else
        figures_add_failure(figures, figure, "this kernel does not filter system calls");
}

static int create_timers(void)
{
    struct sigevent silent = {.sigev_notify = SIGEV_NONE};
    return timer_create(CLOCK_MONOTONIC, &silent, &wall_timer) ||
           timer_create(CLOCK_THREAD_CPUTIME_ID, &silent, &cpu_timer);
}

static const struct figure deadline_figure = {
    .what = "deadline block that does not expire",
    .against = "timer_settime arm+disarm",
    .goal_text = "<= 1/5",
    .goal = 1.0 / 5,
};
/* With one more clock reading, or a system call, this goal fails; see docs/libdlex-figures.md. */
static const struct figure least_figure = {
    .what = "deadline block that does not expire",
    .against = "clock_gettime + sigsetjmp",
    .goal_text = "<= 2",
    .goal = 2,
};
static const struct figure wcet_figure = {
    .what = "WCET block that does not expire",
    .against = "the same, CPU-time timer",
    .goal_text = "<= 1/2",
    .goal = 1.0 / 2,
};
static const struct figure section_figure = {
    .what = "protected section enter+leave",
    .against = "pthread_sigmask pair",
    .goal_text = "<= 1/50",
    .goal = 1.0 / 50,
};
static const struct figure checkpoint_figure = {
    .what = "checkpoint",
    .against = "clock_gettime",
    .kind = FIGURE_DIFFERENCE,
    .goal_text = "<= 2 ns more",
    .goal = 2,
};
static const struct figure remaining_figure = {
    .what = "remaining time",
    .against = "clock_gettime",
    .kind = FIGURE_DIFFERENCE,
    .goal_text = "<= 2 ns more",
    .goal = 2,
};

void cost_measure(struct figures *figures, size_t rounds)
{
    const struct side clock_side = {clock_readings, 1000};
    if (create_timers()) {
        figures_add_failure(figures, deadline_figure, "the kernel gives no timer");
        return;
    }
    compare(figures, deadline_figure, (struct side){deadline_blocks, 500},
            (struct side){wall_timer_pairs, 30}, rounds);
    compare(figures, least_figure, (struct side){deadline_blocks, 500},
            (struct side){least_of_blocks, 1000}, rounds);
    compare(figures, wcet_figure, (struct side){wcet_blocks, 100},
            (struct side){cpu_timer_pairs, 30}, rounds);
    compare(figures, section_figure, (struct side){sections, 10000},
            (struct side){sigmask_pairs, 100}, rounds);
    check_system_calls(figures);
    compare(figures, checkpoint_figure, (struct side){checkpoints, 1000}, clock_side, rounds);
    compare(figures, remaining_figure, (struct side){remaining_times, 1000}, clock_side, rounds);
    timer_delete(wall_timer);
    timer_delete(cpu_timer);
}
