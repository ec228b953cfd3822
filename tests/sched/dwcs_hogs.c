/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dwcs_hogs.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

enum { EXIT_SKIPPED = 77 };

pid_t hog[HOGS];

void start_hogs(void)
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

void end_hog(int number)
{
    if (!hog[number])
        return;
    kill(hog[number], SIGKILL);
    waitpid(hog[number], NULL, 0);
    hog[number] = 0;
}

void end_hogs(void)
{
    for (int i = 0; i < HOGS; i++)
        end_hog(i);
}

int policy_of(pid_t pid)
{
    return sched_getscheduler(pid) & ~SCHED_RESET_ON_FORK;
}

int first_cpu(void)
{
    cpu_set_t set;
    int cpu = 0;
    sched_getaffinity(0, sizeof set, &set);
    while (!CPU_ISSET(cpu, &set))
        cpu++;
    return cpu;
}

struct dwcs_dispatch *create_leaving(unsigned rules, int64_t leave_ns)
{
    struct dwcs_dispatch *dispatch = NULL;
    const struct dispatch_options options = {
        .slot_ns = SLOT_MS * MS, .leave_ns = leave_ns, .rules = rules, .cpu = first_cpu(), .priority = PRIORITY,
    };
    ck_assert_int_eq(dwcs_dispatch_create(&dispatch, &options), 0);
    return dispatch;
}

struct dwcs_dispatch *create(unsigned rules)
{
    return create_leaving(rules, 0);
}

void add(struct dwcs_dispatch *dispatch, int number, int service, int x, int y, bool is_work_conserving, int events)
{
    const struct dispatch_plan plan = {
        .params = {.period_ns = 10 * SLOT_MS * MS, .service_ns = service * SLOT_MS * MS, .x = x, .y = y,
                   .is_work_conserving = is_work_conserving},
        .events = events >= 0 ? EVENTS_OF_EVENTFD : EVENTS_NONE, .event_file = events,
    };
    ck_assert_int_eq(dwcs_dispatch_add(dispatch, hog[number], &plan), number);
}

int step(struct dwcs_dispatch *dispatch, struct slot *slot, int changes)
{
    const struct dispatch_totals before = dwcs_dispatch_totals(dispatch);
    const int living = dwcs_dispatch_step(dispatch, -1);
    const struct dispatch_totals now = dwcs_dispatch_totals(dispatch);
    ck_assert_int_ge(living, 0);
    if (now.slots != slot->number)
        *slot = (struct slot){.number = now.slots, .changes_before = before.policy_changes};
    ck_assert_int_le(now.policy_changes - slot->changes_before, changes);
    return living;
}

void run_slots(struct dwcs_dispatch *dispatch, int64_t slots)
{
    run_slots_changing(dispatch, slots, CHANGES);
}

void run_slots_changing(struct dwcs_dispatch *dispatch, int64_t slots, int changes)
{
    struct slot slot = {0};
    ck_assert_int_eq(dwcs_dispatch_begin(dispatch), 0);
    while (slot.number < slots)
        step(dispatch, &slot, changes);
}

bool has_right(void)
{
    const struct sched_param parameters = {.sched_priority = PRIORITY + 1};
    if (sched_setscheduler(0, SCHED_FIFO, &parameters))
        return false;
    sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){.sched_priority = 0});
    return true;
}

int skip(void)
{
    printf("skipped: this account may not have the priority fifo:%d; `dlex-sched doctor` says what would allow it\n", PRIORITY + 1);
    return EXIT_SKIPPED;
}
