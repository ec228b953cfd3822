/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * DWCS over SCHED_FIFO with real processes that never sleep. Needs the right to real-time priorities, and is skipped without it.
 * The machine may be busy: figures here have room for that. Not covered: what is given back (test_dwcs_ends.c), players, and
 * ten minutes without a lost window.
 */
#include "dwcs_hogs.h"

#include "ns.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"

enum { LEAVE_MS = 2, SLOTS = 100 };

/* To the CPU of the members. */
static void confine(pid_t pid)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(first_cpu(), &set);
    ck_assert_int_eq(sched_setaffinity(pid, sizeof set, &set), 0);
}

static int64_t cpu_ns_of(pid_t pid)
{
    clockid_t clock;
    struct timespec used;
    ck_assert_int_eq(clock_getcpuclockid(pid, &clock), 0);
    ck_assert_int_eq(clock_gettime(clock, &used), 0);
    return ns_from_timespec(used);
}

/* Shares of 1/10, 2/10 and 5/10; nobody may miss anything. A machine that stops for a while may cost some of the 80 windows. */
START_TEST(each_gets_its_share)
{
    static const int service[HOGS] = {1, 2, 5};
    start_hogs();
    struct dwcs_dispatch *dispatch = create(0);
    for (int i = 0; i < HOGS; i++)
        add(dispatch, i, service[i], 0, 1, false, -1);
    run_slots(dispatch, 800);
    const struct dispatch_totals totals = dwcs_dispatch_totals(dispatch);
    ck_assert_double_eq_tol(totals.utilisation, 0.8, 1e-9);
    ck_assert_int_le(totals.policy_changes, 2 * totals.slots + HOGS);
    for (int i = 0; i < HOGS; i++) {
        const struct dispatch_figures figures = dwcs_dispatch_figures(dispatch, i);
        ck_assert_int_ge(figures.periods.served, 60);
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
 * 50 ms of each second (sched_rt_runtime_us): that is a whole period, and can cost a window of each. A machine that stops for a while
 * costs more. Most are kept all the same; if one of the three always preceded the others, two thirds would be lost.
 */
START_TEST(windows_are_kept_in_overload)
{
    start_hogs();
    struct dwcs_dispatch *dispatch = create(0);
    for (int i = 0; i < HOGS; i++)
        add(dispatch, i, 8, 2, 3, false, -1);
    run_slots(dispatch, 1200);
    int64_t kept = 0, lost = 0;
    for (int i = 0; i < HOGS; i++) {
        const struct dispatch_figures figures = dwcs_dispatch_figures(dispatch, i);
        ck_assert_int_gt(figures.periods.missed, 40);
        kept += figures.windows_kept;
        lost += figures.windows_lost;
    }
    ck_assert_int_ge(kept, 2 * lost);
    ck_assert_int_ge(kept + lost, 3 * 38);
    dwcs_dispatch_destroy(&dispatch);
    end_hogs();
}
END_TEST

/* The kernel alone leaves ordinary threads 5 % of the CPU. Without CAP_SYS_NICE the members have a part of what is left. */
START_TEST(each_slot_leaves_time_to_ordinary_threads)
{
    start_hogs();
    struct dwcs_dispatch *dispatch = create_leaving(0, LEAVE_MS * MS);
    const int members = HOGS - 1;
    for (int i = 0; i < members; i++)
        add(dispatch, i, 10 / members, 0, 1, false, -1); /* all slots */
    confine(hog[members]);
    const int64_t before_ns = cpu_ns_of(hog[members]);
    run_slots_changing(dispatch, 400, CHANGES_IF_LATE);
    ck_assert_int_gt(cpu_ns_of(hog[members]) - before_ns, 400 * LEAVE_MS * MS / 4);
    for (int i = 0; i < members; i++) {
        const struct dispatch_figures figures = dwcs_dispatch_figures(dispatch, i);
        ck_assert_int_ge(figures.periods.served, 30);
        ck_assert_int_gt(figures.cpu_ns, 400 * (SLOT_MS - LEAVE_MS) * MS / members / 2);
    }
    dwcs_dispatch_destroy(&dispatch);
    end_hogs();
}
END_TEST

/* Policies change at the beginning and at the end of a slot. Nothing is decided where the members have no priority. */
START_TEST(no_member_has_priority_in_the_time_that_is_left)
{
    start_hogs();
    struct dwcs_dispatch *dispatch = create_leaving(0, LEAVE_MS * MS);
    for (int i = 0; i < HOGS; i++)
        add(dispatch, i, 3, 0, 1, true, -1);
    ck_assert_int_eq(dwcs_dispatch_begin(dispatch), 0);
    int left = 0;
    for (struct slot slot = {0}; slot.number < 200;) {
        const int64_t decisions = dwcs_dispatch_totals(dispatch).decisions;
        step(dispatch, &slot, CHANGES_IF_LATE);
        const bool is_left = dwcs_dispatch_totals(dispatch).decisions == decisions;
        left += is_left;
        for (int i = 0; i < HOGS && is_left; i++)
            ck_assert_int_eq(policy_of(hog[i]), SCHED_OTHER);
    }
    ck_assert_int_gt(left, 100);
    dwcs_dispatch_destroy(&dispatch);
    end_hogs();
}
END_TEST

/* The dispatcher sleeps all the same until the next slot. */
START_TEST(member_may_end_in_the_time_that_is_left)
{
    start_hogs();
    struct dwcs_dispatch *dispatch = create_leaving(0, LEAVE_MS * MS);
    for (int i = 0; i < HOGS; i++)
        add(dispatch, i, 3, 0, 1, true, -1);
    run_slots_changing(dispatch, 20, CHANGES_IF_LATE);
    const struct dispatch_totals begun = dwcs_dispatch_totals(dispatch);
    struct slot slot = {.number = begun.slots, .changes_before = begun.policy_changes};
    int64_t decisions;
    do {
        decisions = dwcs_dispatch_totals(dispatch).decisions;
        step(dispatch, &slot, CHANGES_IF_LATE);
    } while (dwcs_dispatch_totals(dispatch).decisions != decisions);
    kill(hog[1], SIGKILL); /* it ends when it gets the CPU */
    int living = HOGS, steps = 0;
    for (const int64_t until = slot.number + SLOTS; slot.number < until; steps++)
        living = step(dispatch, &slot, CHANGES_AT_END);
    ck_assert_int_eq(living, HOGS - 1);
    ck_assert_int_le(steps, 2 * SLOTS + 1); /* the beginning of each slot, its end, and the end of the member */
    dwcs_dispatch_destroy(&dispatch);
    end_hogs();
}
END_TEST

START_TEST(at_most_half_of_a_slot_is_left)
{
    struct dwcs_dispatch *dispatch = NULL;
    struct dispatch_options options = {.slot_ns = SLOT_MS * MS, .cpu = first_cpu(), .priority = PRIORITY, .leave_ns = -1};
    ck_assert_int_eq(dwcs_dispatch_create(&dispatch, &options), -EINVAL);
    options.leave_ns = options.slot_ns / 2 + 1;
    ck_assert_int_eq(dwcs_dispatch_create(&dispatch, &options), -EINVAL);
    options.leave_ns = options.slot_ns / 2;
    ck_assert_int_eq(dwcs_dispatch_create(&dispatch, &options), 0);
    dwcs_dispatch_destroy(&dispatch);
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
    for (struct slot slot = {0}; slot.number < 200; eventfd_write(events, 1))
        step(dispatch, &slot, CHANGES);
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

/* Two of them have events in turn, in each slot, so that one slot could change many policies. */
START_TEST(events_change_at_most_two_policies_in_a_slot)
{
    start_hogs();
    const int events[] = {eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    struct dwcs_dispatch *dispatch = create(EVENT_RULE_1 | EVENT_RULE_3);
    for (int i = 0; i < HOGS; i++)
        add(dispatch, i, 1, 0, 1, true, i < 2 ? events[i] : -1);
    ck_assert_int_eq(dwcs_dispatch_begin(dispatch), 0);
    struct slot slot = {0};
    for (int i = 0; slot.number < 200; i++) {
        step(dispatch, &slot, CHANGES);
        eventfd_write(events[i % 2], 1);
    }
    ck_assert_int_gt(dwcs_dispatch_totals(dispatch).policy_changes, slot.number / 2);
    dwcs_dispatch_destroy(&dispatch);
    close(events[0]);
    close(events[1]);
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
    for (struct slot slot = {0}; slot.number < 400; eventfd_write(flood, 1000)) {
        step(dispatch, &slot, CHANGES);
        if (slot.number > 100 && slot.number % 20 == 0)
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
    run_slots(dispatch, 100);
    kill(hog[1], SIGKILL);
    struct slot slot = {0};
    int living = HOGS;
    for (int i = 0; i < 6000 && living == HOGS; i++) /* of 5 ms */
        living = step(dispatch, &slot, CHANGES_AT_END);
    ck_assert_int_eq(living, HOGS - 1);
    end_hog(1); /* from now on the kernel does not know how long it has waited; some kernels never do */
    ck_assert(dwcs_dispatch_figures(dispatch, 1).has_ended);
    ck_assert_int_gt(dwcs_dispatch_figures(dispatch, 1).periods.served, 0);
    ck_assert_int_eq(dwcs_dispatch_figures(dispatch, 1).wait_ns >= 0, dwcs_dispatch_figures(dispatch, 0).wait_ns >= 0);
    dwcs_dispatch_destroy(&dispatch);
    end_hogs();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        each_gets_its_share,
        windows_are_kept_in_overload,
        each_slot_leaves_time_to_ordinary_threads,
        no_member_has_priority_in_the_time_that_is_left,
        member_may_end_in_the_time_that_is_left,
        at_most_half_of_a_slot_is_left,
        event_says_who_runs,
        events_change_at_most_two_policies_in_a_slot,
        flood_of_events_leaves_room_for_those_of_others,
        member_that_ends_is_noticed,
        NULL,
    };
    if (has_right())
        return suite_run("dwcs_fifo", 120, tests);
    return skip();
}
