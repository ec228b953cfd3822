/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * DWCS over SCHED_FIFO with real processes that never sleep. Needs the right to real-time priorities, and is skipped without it.
 * The machine may be busy: figures here have room for that. Not covered: players, and ten minutes without a lost window.
 */
#include "dwcs_dispatch.h"

#include "thread_list.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

#define MS INT64_C(1000000)

enum { EXIT_SKIPPED = 77, HOGS = 3, PRIORITY = 41, SLOT_MS = 5 };

static pid_t hog[HOGS];

static void start_hogs(void)
{
    for (int i = 0; i < HOGS; i++) {
        hog[i] = fork();
        if (hog[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (volatile long k = 0;; k++)
                ;
        }
    }
}

static void end_hogs(void)
{
    for (int i = 0; i < HOGS; i++) {
        kill(hog[i], SIGKILL);
        waitpid(hog[i], NULL, 0);
    }
}

static int policy_of(pid_t pid)
{
    return sched_getscheduler(pid) & ~SCHED_RESET_ON_FORK;
}

static int first_cpu(void)
{
    cpu_set_t set;
    int cpu = 0;
    sched_getaffinity(0, sizeof set, &set);
    while (!CPU_ISSET(cpu, &set))
        cpu++;
    return cpu;
}

static struct dwcs_dispatch *create(unsigned rules)
{
    struct dwcs_dispatch *dispatch = NULL;
    const struct dispatch_options options = {
        .slot_ns = SLOT_MS * MS, .rules = rules, .cpu = first_cpu(), .priority = PRIORITY,
    };
    ck_assert_int_eq(dwcs_dispatch_create(&dispatch, &options), 0);
    return dispatch;
}

/* Adds a hog, with periods of 10 slots. */
static void add(struct dwcs_dispatch *dispatch, int number, int service, int x, int y, bool is_work_conserving, int events)
{
    const struct dispatch_plan plan = {
        .params = {.period_ns = 10 * SLOT_MS * MS, .service_ns = service * SLOT_MS * MS, .x = x, .y = y,
                   .is_work_conserving = is_work_conserving},
        .events = events >= 0 ? EVENTS_OF_EVENTFD : EVENTS_NONE, .event_file = events,
    };
    ck_assert_int_eq(dwcs_dispatch_add(dispatch, hog[number], &plan), number);
}

static void run_slots(struct dwcs_dispatch *dispatch, int64_t slots)
{
    ck_assert_int_eq(dwcs_dispatch_begin(dispatch), 0);
    while (dwcs_dispatch_totals(dispatch).slots < slots)
        ck_assert_int_ge(dwcs_dispatch_step(dispatch, -1), 0);
}

/* Shares of 1/10, 2/10 and 5/10; nobody may miss anything. A machine that stops for a while may cost some windows. */
START_TEST(each_gets_its_share)
{
    static const int service[HOGS] = {1, 2, 5};
    start_hogs();
    struct dwcs_dispatch *dispatch = create(0);
    for (int i = 0; i < HOGS; i++)
        add(dispatch, i, service[i], 0, 1, false, -1);
    run_slots(dispatch, 200);
    const struct dispatch_totals totals = dwcs_dispatch_totals(dispatch);
    ck_assert_double_eq_tol(totals.utilisation, 0.8, 1e-9);
    ck_assert_int_le(totals.policy_changes, 2 * totals.slots + HOGS);
    for (int i = 0; i < HOGS; i++) {
        const struct dispatch_figures figures = dwcs_dispatch_figures(dispatch, i);
        ck_assert_int_ge(figures.periods.served, 15);
        ck_assert_int_eq(figures.windows_kept, figures.periods.served);
        ck_assert(!figures.has_ended);
    }
    ck_assert_int_gt(dwcs_dispatch_figures(dispatch, 2).cpu_ns, 2 * dwcs_dispatch_figures(dispatch, 0).cpu_ns);
    dwcs_dispatch_destroy(&dispatch);
    end_hogs();
}
END_TEST

/*
 * Each wants nearly all of the CPU, and may miss two of three periods. Members that always run are stopped by the kernel for some
 * 50 ms of each second (sched_rt_runtime_us): that is a whole period, and can cost a window of each.
 */
START_TEST(windows_are_kept_in_overload)
{
    start_hogs();
    struct dwcs_dispatch *dispatch = create(0);
    for (int i = 0; i < HOGS; i++)
        add(dispatch, i, 8, 2, 3, false, -1);
    run_slots(dispatch, 600);
    int64_t kept = 0, lost = 0;
    for (int i = 0; i < HOGS; i++) {
        const struct dispatch_figures figures = dwcs_dispatch_figures(dispatch, i);
        ck_assert_int_gt(figures.periods.missed, 20);
        kept += figures.windows_kept;
        lost += figures.windows_lost;
    }
    ck_assert_int_ge(kept, 3 * lost);
    ck_assert_int_ge(kept + lost, 3 * 18);
    dwcs_dispatch_destroy(&dispatch);
    end_hogs();
}
END_TEST

/* All have had their service early in the period; then an event says who runs. */
START_TEST(event_says_who_runs)
{
    start_hogs();
    const int events = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    struct dwcs_dispatch *dispatch = create(EVENT_RULE_1 | EVENT_RULE_3);
    for (int i = 0; i < HOGS; i++)
        add(dispatch, i, 1, 0, 1, true, i == 2 ? events : -1);
    ck_assert_int_eq(dwcs_dispatch_begin(dispatch), 0);
    while (dwcs_dispatch_totals(dispatch).slots < 200) {
        ck_assert_int_ge(dwcs_dispatch_step(dispatch, -1), 0);
        eventfd_write(events, 1);
    }
    const struct dispatch_figures sink = dwcs_dispatch_figures(dispatch, 2), other = dwcs_dispatch_figures(dispatch, 0);
    ck_assert_int_gt(sink.swaps, 20);
    ck_assert_int_ge(sink.events, sink.swaps);
    ck_assert_int_eq(other.events, 0);
    ck_assert_int_gt(sink.cpu_ns, 3 * other.cpu_ns);
    dwcs_dispatch_destroy(&dispatch);
    close(events);
    end_hogs();
}
END_TEST

START_TEST(flood_of_events_leaves_room_for_those_of_others)
{
    start_hogs();
    const int flood = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), some = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    struct dwcs_dispatch *dispatch = create(EVENT_RULE_1 | EVENT_RULE_3);
    add(dispatch, 0, 1, 0, 1, true, -1);
    add(dispatch, 1, 1, 0, 1, true, flood);
    add(dispatch, 2, 1, 0, 1, true, some);
    ck_assert_int_eq(dwcs_dispatch_begin(dispatch), 0);
    for (int64_t slots = 0; slots < 400; slots = dwcs_dispatch_totals(dispatch).slots) {
        ck_assert_int_ge(dwcs_dispatch_step(dispatch, -1), 0);
        eventfd_write(flood, 1000);
        if (slots > 100 && slots % 20 == 0)
            eventfd_write(some, 1);
    }
    ck_assert_int_gt(dwcs_dispatch_figures(dispatch, 2).events, 5);
    dwcs_dispatch_destroy(&dispatch);
    close(flood);
    close(some);
    end_hogs();
}
END_TEST

START_TEST(member_that_ends_is_noticed)
{
    start_hogs();
    struct dwcs_dispatch *dispatch = create(0);
    for (int i = 0; i < HOGS; i++)
        add(dispatch, i, 2, 0, 1, false, -1);
    run_slots(dispatch, 30);
    kill(hog[1], SIGKILL);
    int living = HOGS;
    for (int i = 0; i < 100 && living == HOGS; i++)
        living = dwcs_dispatch_step(dispatch, -1);
    ck_assert_int_eq(living, HOGS - 1);
    ck_assert(dwcs_dispatch_figures(dispatch, 1).has_ended);
    ck_assert_int_gt(dwcs_dispatch_figures(dispatch, 1).periods.served, 0);
    dwcs_dispatch_destroy(&dispatch);
    end_hogs();
}
END_TEST

static void expect_given_back(const cpu_set_t *cpus)
{
    cpu_set_t now;
    for (int i = 0; i < HOGS; i++) {
        for (int tries = 0; tries < 5000 && policy_of(hog[i]) != SCHED_OTHER; tries++)
            usleep(1000);
        ck_assert_int_eq(policy_of(hog[i]), SCHED_OTHER);
        for (int tries = 0; tries < 5000; tries++) {
            sched_getaffinity(hog[i], sizeof now, &now);
            if (CPU_EQUAL(&now, cpus))
                break;
            usleep(1000);
        }
        ck_assert(CPU_EQUAL(&now, cpus));
    }
}

START_TEST(everything_is_given_back_at_the_end)
{
    cpu_set_t cpus, now;
    sched_getaffinity(0, sizeof cpus, &cpus);
    start_hogs();
    struct dwcs_dispatch *dispatch = create(0);
    ck_assert_int_eq(policy_of(0), SCHED_FIFO);
    for (int i = 0; i < HOGS; i++)
        add(dispatch, i, 2, 0, 1, i == 0, -1);
    run_slots(dispatch, 3);
    if (dwcs_member_can_be_last())
        ck_assert(policy_of(hog[2]) == SCHED_IDLE || policy_of(hog[2]) == SCHED_FIFO);
    dwcs_dispatch_destroy(&dispatch);
    ck_assert_ptr_null(dispatch);
    dwcs_dispatch_destroy(&dispatch);
    expect_given_back(&cpus);
    ck_assert_int_eq(policy_of(0), SCHED_OTHER);
    sched_getaffinity(0, sizeof now, &now);
    ck_assert(CPU_EQUAL(&now, &cpus));
    end_hogs();
}
END_TEST

START_TEST(everything_is_given_back_when_the_dispatcher_is_killed)
{
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof cpus, &cpus);
    for (int round = 0; round < 5; round++) {
        start_hogs();
        const pid_t killed = fork();
        if (killed == 0) {
            struct dwcs_dispatch *const dispatch = create(0);
            for (int i = 0; i < HOGS; i++)
                add(dispatch, i, 3, 0, 1, i == 0, -1);
            run_slots(dispatch, INT64_MAX);
        }
        bool was_first = false;
        for (int tries = 0; tries < 5000 && !was_first; tries++) {
            usleep(1000);
            for (int i = 0; i < HOGS; i++)
                was_first |= policy_of(hog[i]) == SCHED_FIFO;
        }
        ck_assert(was_first);
        kill(killed, SIGKILL);
        waitpid(killed, NULL, 0);
        expect_given_back(&cpus);
        end_hogs();
    }
}
END_TEST

static void kill_guard(void)
{
    pid_t family[16];
    char name[THREAD_NAME_SIZE];
    bool is_killed = false;
    const int count = thread_list_family(getpid(), family, 16);
    for (int i = 1; i < count; i++)
        if (!strcmp(thread_list_name(family[i], family[i], name), "dlex-dwcs-guard"))
            is_killed = !kill(family[i], SIGKILL);
    ck_assert(is_killed);
}

START_TEST(everything_is_given_back_without_the_guard)
{
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof cpus, &cpus);
    start_hogs();
    struct dwcs_dispatch *dispatch = create(0);
    for (int i = 0; i < HOGS; i++)
        add(dispatch, i, 2, 0, 1, i == 0, -1);
    run_slots(dispatch, 3);
    kill_guard();
    dwcs_dispatch_destroy(&dispatch);
    expect_given_back(&cpus);
    end_hogs();
}
END_TEST

/* What it has could not be given back. */
START_TEST(real_time_process_is_refused)
{
    const struct sched_param five = {.sched_priority = 5};
    const struct dispatch_plan plan = {.is_best_effort = true};
    start_hogs();
    ck_assert_int_eq(sched_setscheduler(hog[0], SCHED_RR, &five), 0);
    struct dwcs_dispatch *dispatch = create(0);
    ck_assert_int_eq(dwcs_dispatch_add(dispatch, hog[0], &plan), -EBUSY);
    dwcs_dispatch_destroy(&dispatch);
    ck_assert_int_eq(policy_of(hog[0]), SCHED_RR);
    end_hogs();
}
END_TEST

/* As a member twice it would stay on the CPU, because it was there when it joined for the second time. */
START_TEST(process_is_one_member)
{
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof cpus, &cpus);
    const struct dispatch_plan plan = {.is_best_effort = true};
    start_hogs();
    struct dwcs_dispatch *dispatch = create(0);
    ck_assert_int_eq(dwcs_dispatch_add(dispatch, hog[0], &plan), 0);
    ck_assert_int_eq(dwcs_dispatch_add(dispatch, hog[0], &plan), -EEXIST);
    dwcs_dispatch_destroy(&dispatch);
    expect_given_back(&cpus);
    end_hogs();
}
END_TEST

/* It changes later what only a member gets. That is its own. */
START_TEST(refused_process_is_not_given_back)
{
    const struct dispatch_plan no_service = {.params = {.period_ns = MS, .service_ns = 0}};
    const struct dispatch_plan no_socket = {.is_best_effort = true, .events = EVENTS_OF_SOCKET, .event_file = 999};
    const struct sched_param none = {0};
    cpu_set_t only, now;
    CPU_ZERO(&only);
    CPU_SET(first_cpu(), &only);
    start_hogs();
    struct dwcs_dispatch *dispatch = create(0);
    ck_assert_int_eq(dwcs_dispatch_add(dispatch, hog[0], &no_service), -EINVAL);
    ck_assert_int_lt(dwcs_dispatch_add(dispatch, hog[0], &no_socket), 0);
    ck_assert_int_eq(sched_setaffinity(hog[0], sizeof only, &only), 0);
    ck_assert_int_eq(sched_setscheduler(hog[0], SCHED_IDLE, &none), 0);
    dwcs_dispatch_destroy(&dispatch);
    ck_assert_int_eq(policy_of(hog[0]), SCHED_IDLE);
    sched_getaffinity(hog[0], sizeof now, &now);
    ck_assert(CPU_EQUAL(&now, &only));
    end_hogs();
}
END_TEST

START_TEST(wrong_options_are_refused)
{
    static const struct dispatch_options wrong[] = {
        {.slot_ns = 0, .priority = PRIORITY}, {.slot_ns = MS, .priority = 1}, {.slot_ns = MS, .priority = 99},
        {.slot_ns = MS, .priority = PRIORITY, .cpu = -1},
    };
    struct dwcs_dispatch *dispatch;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ck_assert_int_eq(dwcs_dispatch_create(&dispatch, &wrong[i]), -EINVAL);
    start_hogs();
    dispatch = create(0);
    const struct dispatch_plan no_service = {.params = {.period_ns = MS, .service_ns = 0}};
    ck_assert_int_eq(dwcs_dispatch_add(dispatch, hog[0], &no_service), -EINVAL);
    ck_assert_int_eq(policy_of(hog[0]), SCHED_OTHER);
    dwcs_dispatch_destroy(&dispatch);
    end_hogs();
}
END_TEST

static bool has_right(void)
{
    const struct sched_param parameters = {.sched_priority = PRIORITY + 1};
    if (sched_setscheduler(0, SCHED_FIFO, &parameters))
        return false;
    sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){.sched_priority = 0});
    return true;
}

int main(void)
{
    const TTest *const tests[] = {
        each_gets_its_share,
        windows_are_kept_in_overload,
        event_says_who_runs,
        flood_of_events_leaves_room_for_those_of_others,
        member_that_ends_is_noticed,
        everything_is_given_back_at_the_end,
        everything_is_given_back_when_the_dispatcher_is_killed,
        everything_is_given_back_without_the_guard,
        real_time_process_is_refused,
        process_is_one_member,
        refused_process_is_not_given_back,
        wrong_options_are_refused,
        NULL,
    };
    if (has_right())
        return suite_run("dwcs_fifo", 120, tests);
    puts("skipped: this account may not have the priority fifo:42; `dlex-sched doctor` says what would allow it");
    return EXIT_SKIPPED;
}
