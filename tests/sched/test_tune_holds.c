/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads that do not run under their reservation. Not covered: that what the tuner grants is reserved (test_tune.py). */
#include "tune_holds.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ns.h"
#include "reserving.h"
#include "thread_policy.h"

static struct tune_holds holds;
static struct tuner tuner;
static struct process_watch *watch;
static pid_t worker;

static void begin(void)
{
    worker = begin_to_compute();
    ck_assert_int_eq(tune_holds_begin(&holds), 0);
    ck_assert_int_eq(process_watch_create(&watch, worker), 0);
    process_watch_poll(watch);
    tuner_init(&tuner, &budget_defaults, 0.1);
}

static void end(void)
{
    tune_holds_end(&holds, watch, 0);
    process_watch_destroy(&watch);
    kill(worker, SIGKILL);
    waitpid(worker, NULL, 0);
}

static bool runs_within(int moments)
{
    const int64_t before_ns = running_ns(worker);
    for (int i = 0; i < moments && running_ns(worker) == before_ns; i++)
        pause_a_moment();
    return running_ns(worker) > before_ns;
}

/* Reserves for the worker, on trial. Other programs of this machine may reserve much for a moment. */
static void reserve(void)
{
    const struct tuner_starving starving = {.id = worker, .running = 0.5, .waiting = 0.5};
    const struct tuner_sample sample = {.periods = 0};
    tuner_try(&tuner, 2 * NS_PER_S, &starving, 1);
    ck_assert_int_eq(tuner.count, 1);
    for (int i = 0; i < TRIES && !holds.count; i++) {
        tuner_update(&tuner, 2 * NS_PER_S + i * NS_PER_S, &sample);
        tune_holds_apply(&holds, &tuner, watch, 0);
        pause_a_moment();
    }
    ck_assert_int_eq(holds.count, 1);
}

static void look(int times)
{
    for (int i = 0; i < times; i++) {
        sleep(1);
        tune_holds_free_halted(&holds, &tuner, watch, 0);
    }
}

/*
 * Takes a reservation from it while its budget is used up, so that the kernel does not run it under the next one. Returns false if this
 * kernel does.
 */
static bool reserve_and_forget(void)
{
    static const struct thread_policy small = {.kind = THREAD_DEADLINE, .runtime_ns = NS_PER_MS, .period_ns = 40 * NS_PER_MS};
    static const struct thread_policy least = {.kind = THREAD_DEADLINE, .runtime_ns = 1024, .period_ns = 1100 * NS_PER_MS};
    static const struct thread_policy ordinary = {.kind = THREAD_OTHER};
    ck_assert_int_eq(thread_policy_set(worker, &small), 0);
    pause_a_moment();
    ck_assert_int_eq(thread_policy_set(worker, &least), 0);
    ck_assert_int_eq(thread_policy_set(worker, &ordinary), 0);
    for (int i = 0; i < 5; i++)
        pause_a_moment();
    reserve();
    if (!runs_within(10))
        return true;
    puts("not tested: this kernel runs the thread");
    return false;
}

START_TEST(thread_that_the_kernel_does_not_run_is_freed)
{
    if (!reserve_and_forget())
        return;
    look(4);
    ck_assert_int_eq(holds.count, 0);
    ck_assert_int_eq(tuner.count, 0);
    ck_assert(runs_within(TRIES));
}
END_TEST

START_TEST(freed_thread_runs_under_another_reservation)
{
    if (!reserve_and_forget())
        return;
    look(4);
    tuner_init(&tuner, &budget_defaults, 0.1);
    reserve();
    ck_assert(runs_within(TRIES));
}
END_TEST

START_TEST(thread_that_runs_is_not_freed)
{
    reserve();
    look(4);
    ck_assert_int_eq(holds.count, 1);
    ck_assert_int_eq(tuner.count, 1);
}
END_TEST

START_TEST(thread_that_sleeps_is_not_freed)
{
    reserve();
    kill(worker, SIGSTOP);
    look(4);
    ck_assert_int_eq(holds.count, 1);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        thread_that_the_kernel_does_not_run_is_freed,
        freed_thread_runs_under_another_reservation,
        thread_that_runs_is_not_freed,
        thread_that_sleeps_is_not_freed,
        NULL,
    };
    return run_reserving("tune_holds", begin, end, tests);
}
