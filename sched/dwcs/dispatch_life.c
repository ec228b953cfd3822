/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the dispatcher begins, who joins, and how it ends. */
#include "dispatch_state.h"

#include "ns.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { PRIORITY_MIN = 2, PRIORITY_MAX = 98 };

int64_t dispatch_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ns_from_timespec(now);
}

enum member_place dispatch_place_beside(const struct dwcs_dispatch *dispatch, const struct dispatched *one)
{
    const bool may_have_more = one->plan.is_best_effort || one->plan.params.is_work_conserving;
    return may_have_more || !dispatch->can_be_last ? MEMBER_ORDINARY : MEMBER_LAST;
}

/* Takes the CPU and the priority. */
static int take_place(struct dwcs_dispatch *dispatch)
{
    const struct thread_policy policy = {.kind = THREAD_FIFO, .priority = dispatch->options.priority};
    const int error = member_before_confine(&dispatch->self, NULL);
    return error ? error : thread_policy_set(0, &policy);
}

/* Returns 0 or a negative errno. */
static int make_timers(struct dwcs_dispatch *dispatch)
{
    dispatch->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (dispatch->timer < 0)
        return -errno;
    dispatch->leave_timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (dispatch->leave_timer >= 0)
        return 0;
    const int error = -errno;
    close(dispatch->timer);
    return error;
}

/* The timer expires at first_ns and then in each slot. Returns 0 or a negative errno. */
static int start_timer(const struct dwcs_dispatch *dispatch, int timer, int64_t first_ns)
{
    const struct itimerspec period = {
        .it_value = ns_to_timespec(first_ns), .it_interval = ns_to_timespec(dispatch->options.slot_ns),
    };
    return timerfd_settime(timer, TFD_TIMER_ABSTIME, &period, NULL) ? -errno : 0;
}

static int start(struct dwcs_dispatch *dispatch)
{
    const struct dispatch_options *const options = &dispatch->options;
    int error = member_before_read(&dispatch->self, getpid(), options->cpu, options->priority);
    dispatch->self.joined_ticks = UINT64_MAX; /* it starts no child once it has its priority and CPU */
    if (!error)
        error = dwcs_guard_start(&dispatch->guard, options->priority + 1);
    if (error)
        return error;
    error = take_place(dispatch);
    if (!error)
        error = make_timers(dispatch);
    if (error) {
        dwcs_guard_end(&dispatch->guard);
        member_before_give_back(&dispatch->self);
    }
    return error;
}

static bool is_valid(const struct dispatch_options *options)
{
    return options->slot_ns > 0 && options->leave_ns >= 0 && options->leave_ns <= options->slot_ns / 2 && options->cpu >= 0 &&
           options->cpu < CPU_SETSIZE && options->priority >= PRIORITY_MIN && options->priority <= PRIORITY_MAX;
}

int dwcs_dispatch_create(struct dwcs_dispatch **dispatch, const struct dispatch_options *options)
{
    if (!is_valid(options))
        return -EINVAL;
    struct dwcs_dispatch *const made = calloc(1, sizeof *made);
    if (!made)
        return -ENOMEM;
    made->options = *options;
    made->choice.selected = made->choice.runs = DWCS_NONE;
    made->now_ns = dispatch_now_ns();
    made->can_be_last = dwcs_member_can_be_last();
    dwcs_init(&made->dwcs);
    event_queue_init(&made->events);
    const int error = start(made);
    if (error) {
        free(made);
        return error;
    }
    *dispatch = made;
    return 0;
}

/* Returns its id in the run queue, or a negative errno. */
static int enqueue(struct dwcs_dispatch *dispatch, const struct dispatch_plan *plan)
{
    return plan->is_best_effort ? dwcs_add_best_effort(&dispatch->dwcs)
                                : dwcs_add(&dispatch->dwcs, &plan->params, dispatch->now_ns);
}

/* The guard knows the member before anything of it changes. */
static int take_over(struct dwcs_dispatch *dispatch, struct dispatched *one, struct member_before *before)
{
    int error = dwcs_guard_keep(&dispatch->guard, one->plan.is_command);
    if (error)
        return error;
    error = member_before_confine(before, &dispatch->guard.journal);
    if (!error) {
        const int changed = dwcs_member_put(&one->member, dispatch_place_beside(dispatch, one));
        error = changed < 0 ? changed : 0;
    }
    if (error) {
        member_before_give_back(before);
        dwcs_guard_drop(&dispatch->guard);
    }
    return error;
}

static int join(struct dwcs_dispatch *dispatch, struct dispatched *one, struct member_before *before)
{
    one->process = enqueue(dispatch, &one->plan);
    if (one->process < 0)
        return one->process;
    int error = event_source_open(&one->source, one->plan.events, one->member.pidfd, one->plan.event_file);
    if (!error)
        error = take_over(dispatch, one, before);
    if (error) {
        event_source_close(&one->source);
        dwcs_remove(&dispatch->dwcs, one->process);
    }
    return error;
}

static bool is_member(const struct dwcs_dispatch *dispatch, pid_t pid)
{
    for (int i = 0; i < dispatch->count; i++)
        if (!dispatch->of[i].has_ended && dispatch->of[i].member.pid == pid)
            return true;
    return false;
}

int dwcs_dispatch_add(struct dwcs_dispatch *dispatch, pid_t pid, const struct dispatch_plan *plan)
{
    const struct dispatch_options *const options = &dispatch->options;
    struct member_before *before;
    if (is_member(dispatch, pid))
        return -EEXIST;
    int error = dwcs_guard_read(&dispatch->guard, pid, options->cpu, options->priority - 1, &before);
    if (error)
        return error;
    struct dispatched *const one = &dispatch->of[dispatch->count];
    *one = (struct dispatched){.plan = *plan, .is_runnable = true};
    error = dwcs_member_open(&one->member, before);
    if (error)
        return error;
    error = join(dispatch, one, before);
    if (error) {
        dwcs_member_close(&one->member);
        return error;
    }
    return dispatch->count++;
}

/* The ids in the run queue stay as they are, since they follow from the order. */
int dwcs_dispatch_begin(struct dwcs_dispatch *dispatch)
{
    dispatch->now_ns = dispatch_now_ns();
    dispatch->next_slot_ns = dispatch->now_ns + dispatch->options.slot_ns;
    dwcs_init(&dispatch->dwcs);
    for (int i = 0; i < dispatch->count; i++) {
        struct dispatched *const one = &dispatch->of[i];
        one->process = enqueue(dispatch, &one->plan);
        dwcs_member_ran_ns(&one->member);
        one->is_runnable = true;
    }
    const int64_t leave_ns = dispatch->options.leave_ns;
    const int error = leave_ns ? start_timer(dispatch, dispatch->leave_timer, dispatch->next_slot_ns - leave_ns) : 0;
    return error ? error : start_timer(dispatch, dispatch->timer, dispatch->next_slot_ns);
}

struct dispatch_figures dwcs_dispatch_figures(struct dwcs_dispatch *dispatch, int number)
{
    struct dispatched *const one = &dispatch->of[number];
    struct dispatch_figures figures = one->figures;
    if (!one->has_ended)
        figures.periods = dispatch->dwcs.process[one->process].counts;
    figures.windows_kept = one->windows.kept;
    figures.windows_lost = one->windows.lost;
    figures.cpu_ns = dwcs_member_cpu_ns(&one->member);
    figures.wait_ns = dwcs_member_wait_ns(&one->member);
    figures.has_ended = one->has_ended;
    return figures;
}

bool dwcs_dispatch_is_left_alone(const struct dwcs_dispatch *dispatch, int number)
{
    return dispatch->of[number].member.is_left_alone;
}

struct dispatch_totals dwcs_dispatch_totals(const struct dwcs_dispatch *dispatch)
{
    struct dispatch_totals totals = dispatch->totals;
    totals.utilisation = dwcs_utilisation(&dispatch->dwcs);
    return totals;
}

void dwcs_dispatch_end(struct dwcs_dispatch *dispatch)
{
    dwcs_guard_end(&dispatch->guard); /* this gives the members back */
    member_before_give_back(&dispatch->self);
}

void dwcs_dispatch_destroy(struct dwcs_dispatch **dispatch)
{
    struct dwcs_dispatch *const ended = *dispatch;
    if (!ended)
        return;
    dwcs_dispatch_end(ended);
    for (int i = 0; i < ended->count; i++) {
        event_source_close(&ended->of[i].source);
        dwcs_member_close(&ended->of[i].member);
    }
    close(ended->leave_timer);
    close(ended->timer);
    free(ended);
    *dispatch = NULL;
}
