/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dwcs_dispatch.h"

#include "ns.h"
#include "window_count.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { MEMBERS = GUARD_CAPACITY, PRIORITY_MIN = 2, PRIORITY_MAX = 98 };

/* From this part of the time between two decisions on, the chosen member has had all of it. */
static const double whole = 0.9;

struct dispatched {
    struct dwcs_member member;
    struct dispatch_plan plan;
    int process;                 /* its id in the run queue */
    bool is_runnable;            /* at the last decision */
    bool has_slept;              /* at some time since the decision before */
    int64_t sleeps;              /* how often, when it was chosen */
    bool has_ended;
    struct event_source source;
    struct window_count windows;
    struct dispatch_figures figures;
};

struct dwcs_dispatch {
    struct dwcs dwcs;
    struct event_queue events;
    struct dispatch_options options;
    struct dwcs_guard guard;
    struct member_before self;
    struct dispatched of[MEMBERS];
    int count;
    bool can_be_last;            /* see dwcs_member.h */
    int timer;
    int64_t now_ns;              /* of the last decision */
    int64_t next_slot_ns;
    bool may_change;             /* no policy has changed in this slot, and no event was looked at */
    struct event_choice choice;  /* of the last decision; runs: DWCS_NONE before the first one */
    struct dispatch_totals totals;
};

static int64_t clock_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ns_from_timespec(now);
}

/* Takes the CPU and the priority. */
static int take_place(struct dwcs_dispatch *dispatch)
{
    const struct thread_policy policy = {.kind = THREAD_FIFO, .priority = dispatch->options.priority};
    const int error = member_before_confine(&dispatch->self);
    return error ? error : thread_policy_set(0, &policy);
}

static int start(struct dwcs_dispatch *dispatch)
{
    const struct dispatch_options *const options = &dispatch->options;
    int error = member_before_read(&dispatch->self, getpid(), options->cpu, options->priority);
    if (!error)
        error = dwcs_guard_start(&dispatch->guard, options->priority + 1);
    if (error)
        return error;
    error = take_place(dispatch);
    if (!error) {
        dispatch->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        error = dispatch->timer < 0 ? -errno : 0;
    }
    if (error) {
        dwcs_guard_end(&dispatch->guard);
        member_before_give_back(&dispatch->self);
    }
    return error;
}

int dwcs_dispatch_create(struct dwcs_dispatch **dispatch, const struct dispatch_options *options)
{
    if (options->slot_ns <= 0 || options->cpu < 0 || options->cpu >= CPU_SETSIZE || options->priority < PRIORITY_MIN ||
        options->priority > PRIORITY_MAX)
        return -EINVAL;
    struct dwcs_dispatch *const made = calloc(1, sizeof *made);
    if (!made)
        return -ENOMEM;
    made->options = *options;
    made->choice.selected = made->choice.runs = DWCS_NONE;
    made->now_ns = clock_now_ns();
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

/* Where it is while it is not chosen. */
static enum member_place place_beside(const struct dwcs_dispatch *dispatch, const struct dispatched *one)
{
    const bool may_have_more = one->plan.is_best_effort || one->plan.params.is_work_conserving;
    return may_have_more || !dispatch->can_be_last ? MEMBER_ORDINARY : MEMBER_LAST;
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
    dwcs_guard_keep(&dispatch->guard);
    int error = member_before_confine(before);
    if (!error) {
        const int changed = dwcs_member_put(&one->member, place_beside(dispatch, one));
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
    dispatch->now_ns = clock_now_ns();
    dispatch->next_slot_ns = dispatch->now_ns + dispatch->options.slot_ns;
    dwcs_init(&dispatch->dwcs);
    for (int i = 0; i < dispatch->count; i++) {
        struct dispatched *const one = &dispatch->of[i];
        one->process = enqueue(dispatch, &one->plan);
        dwcs_member_ran_ns(&one->member);
        one->is_runnable = true;
    }
    const struct itimerspec period = {
        .it_value = ns_to_timespec(dispatch->next_slot_ns), .it_interval = ns_to_timespec(dispatch->options.slot_ns),
    };
    return timerfd_settime(dispatch->timer, TFD_TIMER_ABSTIME, &period, NULL) ? -errno : 0;
}

static void note_end(struct dwcs_dispatch *dispatch, struct dispatched *one)
{
    one->has_ended = true;
    one->figures.periods = dispatch->dwcs.process[one->process].counts;
    event_forget(&dispatch->events, one->process);
    if (dispatch->choice.runs == one->process)
        dispatch->choice.runs = dispatch->choice.selected = DWCS_NONE;
    dwcs_remove(&dispatch->dwcs, one->process);
    event_source_close(&one->source);
}

/*
 * Counts what a member has had since the last decision, and whether it has slept since then. The chosen one may have slept and run
 * again by now; this is looked up only if it has not had nearly all of the time.
 */
static void account(struct dwcs_dispatch *dispatch, struct dispatched *one, int64_t elapsed_ns)
{
    const int64_t ran_ns = dwcs_member_ran_ns(&one->member);
    const bool was_chosen = one->process == dispatch->choice.runs;
    /* A best-effort member shares its time with all ordinary processes of the machine, which are best-effort, too. */
    const bool had_all = one->plan.is_best_effort || (double)ran_ns >= whole * (double)elapsed_ns;
    if (was_chosen)
        event_account(&dispatch->dwcs, &dispatch->choice, had_all ? elapsed_ns : ran_ns);
    else if (ran_ns > 0)
        dwcs_run(&dispatch->dwcs, one->process, ran_ns);
    one->has_slept = !one->is_runnable || (was_chosen && !had_all && dwcs_member_sleeps(&one->member) != one->sleeps);
    one->is_runnable = dwcs_member_is_runnable(&one->member);
    if (one->has_slept || !one->is_runnable)
        dwcs_block(&dispatch->dwcs, one->process); /* before its period ends, so that it has not missed what it did not want */
}

/* What is new after the periods have ended: windows, members that run again, events. */
static void look_at(struct dwcs_dispatch *dispatch, struct dispatched *one)
{
    const bool wakes_up = one->is_runnable && one->has_slept;
    if (!one->plan.is_best_effort)
        window_count_look(&one->windows, &dispatch->dwcs.process[one->process].counts, &one->plan.params);
    if (wakes_up)
        dwcs_wake(&dispatch->dwcs, one->process, dispatch->now_ns);
    int events = event_source_take(&one->source);
    if (wakes_up && one->plan.events == EVENTS_OF_WAKE_UPS)
        events++;
    while (events-- > 0)
        event_raise(&dispatch->events, one->process, dispatch->now_ns, 0); /* a full queue has enough events */
}

static void look_at_members(struct dwcs_dispatch *dispatch, int64_t now_ns)
{
    const int64_t elapsed_ns = now_ns - dispatch->now_ns;
    for (int i = 0; i < dispatch->count; i++) {
        struct dispatched *const one = &dispatch->of[i];
        struct pollfd ended = {.fd = one->member.pidfd, .events = POLLIN};
        if (one->has_ended)
            continue;
        if (poll(&ended, 1, 0) == 1)
            note_end(dispatch, one);
        else
            account(dispatch, one, elapsed_ns);
    }
    dispatch->now_ns = now_ns;
    dwcs_advance(&dispatch->dwcs, now_ns);
    for (int i = 0; i < dispatch->count; i++)
        if (!dispatch->of[i].has_ended)
            look_at(dispatch, &dispatch->of[i]);
}

static struct dispatched *find(struct dwcs_dispatch *dispatch, int process)
{
    for (int i = 0; i < dispatch->count; i++)
        if (!dispatch->of[i].has_ended && dispatch->of[i].process == process)
            return &dispatch->of[i];
    return NULL;
}

/* The chosen one is put first, the one before is not. Returns 0 or a negative errno. */
static int change_policies(struct dwcs_dispatch *dispatch)
{
    struct dispatched *const chosen = find(dispatch, dispatch->choice.runs);
    int error = 0;
    for (int i = 0; i < dispatch->count; i++) {
        struct dispatched *const one = &dispatch->of[i];
        const bool is_first = one == chosen && !one->plan.is_best_effort;
        if (one->has_ended)
            continue;
        const int changed = dwcs_member_put(&one->member, is_first ? MEMBER_FIRST : place_beside(dispatch, one));
        dispatch->totals.policy_changes += changed > 0;
        dispatch->may_change &= changed == 0;
        if (changed < 0 && changed != -ESRCH) /* that one has just ended */
            error = changed;
    }
    return error;
}

static void update_server(struct dwcs_dispatch *dispatch)
{
    const struct event_queue *const events = &dispatch->events;
    if (!dispatch->options.server)
        return;
    const int64_t service_ns = events->count ? dispatch->dwcs.process[events->event[0].sink].params.service_ns : 0;
    /* If it fails there is no server, which then is not selected. */
    dwcs_server_update(&dispatch->dwcs, dispatch->options.server, service_ns, dispatch->now_ns);
}

static int decide(struct dwcs_dispatch *dispatch, int64_t now_ns)
{
    if (now_ns < dispatch->now_ns)
        now_ns = dispatch->now_ns; /* an event came after the beginning of the slot, but before its timer */
    look_at_members(dispatch, now_ns);
    update_server(dispatch);
    dispatch->choice = event_choose(&dispatch->dwcs, &dispatch->events, dispatch->options.rules, now_ns);
    struct dispatched *const chosen = find(dispatch, dispatch->choice.runs);
    if (chosen) {
        chosen->figures.events += dispatch->choice.rule > 0;
        chosen->figures.swaps += event_is_swap(&dispatch->choice);
        chosen->sleeps = dwcs_member_sleeps(&chosen->member);
    }
    dispatch->totals.decisions++;
    return change_policies(dispatch);
}

/* Returns when the decision is: at the beginning of a slot if the timer has expired, else now. */
static int64_t decision_time_ns(struct dwcs_dispatch *dispatch)
{
    struct dispatch_totals *const totals = &dispatch->totals;
    uint64_t expirations;
    dispatch->may_change = false;
    if (read(dispatch->timer, &expirations, sizeof expirations) != sizeof expirations)
        return clock_now_ns();
    dispatch->may_change = true;
    const int64_t slot_ns = dispatch->next_slot_ns + (int64_t)(expirations - 1) * dispatch->options.slot_ns;
    const int64_t late_ns = clock_now_ns() - slot_ns;
    totals->slots += (int64_t)expirations;
    totals->lost_slots += (int64_t)expirations - 1;
    if (late_ns > totals->late_ns_max)
        totals->late_ns_max = late_ns;
    dispatch->next_slot_ns = slot_ns + dispatch->options.slot_ns;
    return slot_ns;
}

/* Lists what is waited for. Returns how many. */
static int list_files(const struct dwcs_dispatch *dispatch, int other_file, struct pollfd *polled)
{
    int count = 0;
    polled[count++] = (struct pollfd){.fd = dispatch->timer, .events = POLLIN};
    polled[count++] = (struct pollfd){.fd = other_file, .events = POLLIN};
    for (int i = 0; i < dispatch->count; i++) {
        const struct dispatched *const one = &dispatch->of[i];
        if (one->has_ended)
            continue;
        polled[count++] = (struct pollfd){.fd = one->member.pidfd, .events = POLLIN};
        if (dispatch->may_change)
            count += event_source_poll(&one->source, &polled[count]);
    }
    return count;
}

int dwcs_dispatch_step(struct dwcs_dispatch *dispatch, int other_file)
{
    struct pollfd polled[2 + 2 * MEMBERS];
    int living = 0;
    if (poll(polled, (nfds_t)list_files(dispatch, other_file, polled), -1) < 0 && errno != EINTR)
        return -errno;
    const int error = decide(dispatch, decision_time_ns(dispatch));
    for (int i = 0; i < dispatch->count; i++)
        living += !dispatch->of[i].has_ended;
    return error ? error : living;
}

struct dispatch_figures dwcs_dispatch_figures(const struct dwcs_dispatch *dispatch, int number)
{
    const struct dispatched *const one = &dispatch->of[number];
    struct dispatch_figures figures = one->figures;
    if (!one->has_ended)
        figures.periods = dispatch->dwcs.process[one->process].counts;
    figures.windows_kept = one->windows.kept;
    figures.windows_lost = one->windows.lost;
    figures.cpu_ns = dwcs_member_cpu_ns(&one->member);
    figures.wait_ns = one->has_ended ? -1 : dwcs_member_wait_ns(&one->member);
    figures.has_ended = one->has_ended;
    return figures;
}

struct dispatch_totals dwcs_dispatch_totals(const struct dwcs_dispatch *dispatch)
{
    struct dispatch_totals totals = dispatch->totals;
    totals.utilisation = dwcs_utilisation(&dispatch->dwcs);
    return totals;
}

void dwcs_dispatch_destroy(struct dwcs_dispatch **dispatch)
{
    struct dwcs_dispatch *const ended = *dispatch;
    if (!ended)
        return;
    dwcs_guard_end(&ended->guard); /* this gives the members back */
    member_before_give_back(&ended->self);
    for (int i = 0; i < ended->count; i++) {
        event_source_close(&ended->of[i].source);
        dwcs_member_close(&ended->of[i].member);
    }
    close(ended->timer);
    free(ended);
    *dispatch = NULL;
}
