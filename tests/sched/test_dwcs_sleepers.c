/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * DWCS over SCHED_FIFO with processes that sleep and wake up, as players do, and events from their wake-ups and sockets. Needs the
 * right to real-time priorities, and is skipped without it. The machine may be busy: figures here have room for that. Not covered:
 * real players.
 */
#include "dwcs_hogs.h"

#include "ns.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"

enum { COMPUTING = 2 }; /* hogs beside it */

/* A process that works in rounds. */
struct worker {
    pid_t pid;
    volatile int64_t *rounds; /* it counts them itself */
};

static void compute(int64_t for_ns)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    const int64_t until_ns = ns_from_timespec(now) + for_ns;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while (ns_from_timespec(now) < until_ns);
}

static void sleep_ns(int64_t for_ns)
{
    const struct timespec length = ns_to_timespec(for_ns);
    nanosleep(&length, NULL);
}

/* Starts a process. Returns true in that one. It dies with the test. */
static bool start_worker(struct worker *worker)
{
    worker->rounds = mmap(NULL, sizeof *worker->rounds, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne((void *)worker->rounds, MAP_FAILED);
    worker->pid = fork();
    if (worker->pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return worker->pid == 0;
}

/* Starts a process that computes and sleeps in turns. */
static struct worker start_sleeper(int64_t computes_ns, int64_t sleeps_ns)
{
    struct worker worker;
    if (start_worker(&worker))
        for (;; ++*worker.rounds) {
            compute(computes_ns);
            sleep_ns(sleeps_ns);
        }
    return worker;
}

static void end_worker(const struct worker *worker)
{
    kill(worker->pid, SIGKILL);
    waitpid(worker->pid, NULL, 0);
    munmap((void *)worker->rounds, sizeof *worker->rounds);
}

/* The hogs that compute have the numbers before that of the worker. Each wants 1/10 of the CPU. */
static int add_after_hogs(struct dwcs_dispatch *dispatch, const struct worker *worker, const struct dispatch_plan *plan)
{
    for (int i = 0; i < COMPUTING; i++)
        add(dispatch, i, 1, 0, 1, true, -1);
    return dwcs_dispatch_add(dispatch, worker->pid, plan);
}

/* It wants 2 ms in each 20 ms. When it wakes up, a hog has SCHED_FIFO, so that it gets no CPU before it was seen to be awake. */
START_TEST(each_wake_up_of_a_sleeper_is_an_event_and_it_has_its_service)
{
    const struct dispatch_plan plan = {
        .params = {.period_ns = 4 * SLOT_MS * MS, .service_ns = 2 * MS, .x = 1, .y = 5, .is_work_conserving = true},
        .events = EVENTS_OF_WAKE_UPS,
    };
    start_hogs();
    const struct worker sleeper = start_sleeper(2 * MS, 8 * MS);
    struct dwcs_dispatch *dispatch = create(EVENT_RULES_ALL);
    const int number = add_after_hogs(dispatch, &sleeper, &plan);
    ck_assert_int_eq(number, COMPUTING);
    const int64_t rounds_before = *sleeper.rounds;
    run_slots(dispatch, 600);
    const int64_t rounds = *sleeper.rounds - rounds_before;
    const struct dispatch_figures figures = dwcs_dispatch_figures(dispatch, number);
    ck_assert_int_ge(rounds, 60); /* some 200 on an idle machine: it waits for the next slot */
    ck_assert_int_ge(figures.events, rounds / 3);
    ck_assert_int_le(figures.events, rounds + 1);
    ck_assert_int_le(figures.swaps, figures.events);
    ck_assert_int_ge(figures.periods.served, rounds / 4);
    ck_assert_int_le(3 * figures.periods.missed, figures.periods.served);
    for (int i = 0; i < COMPUTING; i++) {
        const struct dispatch_figures hogs = dwcs_dispatch_figures(dispatch, i);
        ck_assert_int_eq(hogs.events, 0);
        ck_assert_int_gt(hogs.periods.served, hogs.periods.missed);
    }
    dwcs_dispatch_destroy(&dispatch);
    end_worker(&sleeper);
    end_hogs();
}
END_TEST

/* It wants 45 of 50 ms, and computes for 15 ms of each 165. If sleeping counted as wanting the CPU, it would miss all its periods. */
START_TEST(what_a_member_sleeps_through_is_no_miss)
{
    const struct dispatch_plan plan = {
        .params = {.period_ns = 10 * SLOT_MS * MS, .service_ns = 9 * SLOT_MS * MS, .x = 0, .y = 1},
    };
    start_hogs();
    const struct worker sleeper = start_sleeper(15 * MS, 150 * MS);
    struct dwcs_dispatch *dispatch = create(0);
    const int number = add_after_hogs(dispatch, &sleeper, &plan);
    ck_assert_int_eq(number, COMPUTING);
    run_slots(dispatch, 500);
    const struct dispatch_figures figures = dwcs_dispatch_figures(dispatch, number);
    ck_assert_int_ge(figures.periods.served, 5); /* of 15 */
    ck_assert_int_lt(figures.periods.missed, figures.periods.served);
    ck_assert_int_eq(figures.events, 0); /* it has none */
    dwcs_dispatch_destroy(&dispatch);
    end_worker(&sleeper);
    end_hogs();
}
END_TEST

/*
 * The member is alone, and always chosen. It sleeps three times in a slot, so at most decisions it is found awake, as before. Without
 * a look at its switches, only a fifth of the decisions would see that it has slept.
 */
static void see_sleep_within_a_slot(int64_t leave_ns)
{
    const struct dispatch_plan plan = {
        .params = {.period_ns = 10 * SLOT_MS * MS, .service_ns = 10 * SLOT_MS * MS, .x = 0, .y = 1},
        .events = EVENTS_OF_WAKE_UPS,
    };
    const struct worker sleeper = start_sleeper(MS, MS / 4);
    struct dwcs_dispatch *dispatch = create_leaving(EVENT_RULES_ALL, leave_ns);
    ck_assert_int_eq(dwcs_dispatch_add(dispatch, sleeper.pid, &plan), 0);
    run_slots_changing(dispatch, 400, leave_ns ? CHANGES_IF_LATE : CHANGES);
    const int64_t decisions = dwcs_dispatch_totals(dispatch).decisions;
    ck_assert_int_ge(dwcs_dispatch_figures(dispatch, 0).events, 2 * decisions / 5);
    dwcs_dispatch_destroy(&dispatch);
    end_worker(&sleeper);
}

START_TEST(sleep_within_a_slot_is_seen)
{
    see_sleep_within_a_slot(0);
}
END_TEST

/* It runs for longer than the slot without what is left, and sleeps all the same. */
START_TEST(sleep_within_a_slot_that_is_left_is_seen)
{
    see_sleep_within_a_slot(2 * MS);
}
END_TEST

/* Starts a process that computes for each character that it reads. */
static struct worker start_reader(int file)
{
    struct worker worker;
    char text;
    if (start_worker(&worker)) {
        for (; read(file, &text, 1) == 1; ++*worker.rounds)
            compute(MS);
        _exit(0);
    }
    return worker;
}

START_TEST(socket_of_a_member_is_an_event_within_the_slot)
{
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
    const struct dispatch_plan plan = {
        .params = {.period_ns = 10 * SLOT_MS * MS, .service_ns = SLOT_MS * MS, .x = 0, .y = 1, .is_work_conserving = true},
        .events = EVENTS_OF_SOCKET, .event_file = ends[1],
    };
    start_hogs();
    const struct worker reader = start_reader(ends[1]);
    struct dwcs_dispatch *dispatch = create(EVENT_RULES_ALL);
    const int number = add_after_hogs(dispatch, &reader, &plan);
    if (number != -EPERM) { /* in some containers nobody may use another process's files */
        ck_assert_int_eq(number, COMPUTING);
        ck_assert_int_eq(dwcs_dispatch_begin(dispatch), 0);
        struct slot slot = {0};
        int64_t written = 0;
        while (slot.number < 400) {
            step(dispatch, &slot, CHANGES);
            /* In the middle of a period, the hog that has the CPU keeps it. */
            if ((slot.number + 5) / 10 > written && write(ends[0], "a", 1) == 1)
                written++;
        }
        const struct dispatch_figures figures = dwcs_dispatch_figures(dispatch, number);
        const struct dispatch_totals totals = dwcs_dispatch_totals(dispatch);
        ck_assert_int_ge(figures.events, written / 2);
        ck_assert_int_le(figures.events, written);
        ck_assert_int_ge(*reader.rounds, written / 2);
        ck_assert_int_gt(totals.decisions, totals.slots - totals.lost_slots); /* not only at the beginning of slots */
        ck_assert_int_eq(dwcs_dispatch_figures(dispatch, 0).events, 0);
    }
    dwcs_dispatch_destroy(&dispatch);
    end_worker(&reader);
    end_hogs();
    close(ends[0]);
    close(ends[1]);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        each_wake_up_of_a_sleeper_is_an_event_and_it_has_its_service,
        what_a_member_sleeps_through_is_no_miss,
        sleep_within_a_slot_is_seen,
        sleep_within_a_slot_that_is_left_is_seen,
        socket_of_a_member_is_an_event_within_the_slot,
        NULL,
    };
    if (has_right())
        return suite_run("dwcs_sleepers", 120, tests);
    return skip();
}
