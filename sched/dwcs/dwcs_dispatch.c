/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dispatch_state.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

/* From this part of the time between two decisions on, the chosen member has had all of it. */
static const double whole = 0.9;

static void note_end(struct dwcs_dispatch *dispatch, struct dispatched *one)
{
    one->has_ended = true;
    dwcs_member_wait_ns(&one->member); /* its parent may look before the figures are read */
    one->figures.periods = dispatch->dwcs.process[one->process].counts;
    event_forget(&dispatch->events, one->process);
    if (dispatch->choice.runs == one->process)
        dispatch->choice.runs = dispatch->choice.selected = DWCS_NONE;
    dwcs_remove(&dispatch->dwcs, one->process);
    event_source_close(&one->source);
}

/* True if a member that ran for so long, without sleeping, has had what a decision so long ago gave it. */
static bool had_its_slot(const struct dwcs_dispatch *dispatch, int64_t ran_ns, int64_t elapsed_ns)
{
    const bool was_slot = dispatch->is_left && elapsed_ns >= dispatch->options.slot_ns;
    return (double)ran_ns >= whole * (double)(elapsed_ns - (was_slot ? dispatch->options.leave_ns : 0));
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
    const bool paused = was_chosen && !had_all && dwcs_member_sleeps(&one->member) != one->sleeps;
    if (was_chosen)
        event_account(&dispatch->dwcs, &dispatch->choice,
                      had_all || (!paused && had_its_slot(dispatch, ran_ns, elapsed_ns)) ? elapsed_ns : ran_ns);
    else if (ran_ns > 0)
        dwcs_run(&dispatch->dwcs, one->process, ran_ns);
    one->has_slept = !one->is_runnable || paused;
    one->is_runnable = dwcs_member_is_runnable(&one->member);
    if (one->has_slept || !one->is_runnable)
        dwcs_block(&dispatch->dwcs, one->process); /* before its period ends, so that it has not missed what it did not want */
}

/* A member with many events is not more urgent than one with a few, and must leave room in the queue for those of all others. */
static void raise_events(struct dwcs_dispatch *dispatch, int process, int events)
{
    const int room = EVENT_CAPACITY / MEMBERS - event_count(&dispatch->events, process);
    for (int i = 0; i < events && i < room; i++)
        event_raise(&dispatch->events, process, dispatch->now_ns, 0);
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
    raise_events(dispatch, one->process, events);
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

/* The chosen one is put first unless the slot is left, the one before is not. Returns 0 or a negative errno. */
static int change_policies(struct dwcs_dispatch *dispatch)
{
    struct dispatched *const chosen = find(dispatch, dispatch->choice.runs);
    int error = 0;
    for (int i = 0; i < dispatch->count; i++) {
        struct dispatched *const one = &dispatch->of[i];
        const bool is_first = one == chosen && !one->plan.is_best_effort && !dispatch->is_left;
        if (one->has_ended)
            continue;
        const int changed = dwcs_member_put(&one->member, is_first ? MEMBER_FIRST : dispatch_place_beside(dispatch, one));
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
    dispatch->is_left = false;
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
        return dispatch_now_ns();
    dispatch->may_change = true;
    const int64_t slot_ns = dispatch->next_slot_ns + (int64_t)(expirations - 1) * dispatch->options.slot_ns;
    const int64_t late_ns = dispatch_now_ns() - slot_ns;
    totals->slots += (int64_t)expirations;
    totals->lost_slots += (int64_t)expirations - 1;
    if (late_ns > totals->late_ns_max)
        totals->late_ns_max = late_ns;
    dispatch->next_slot_ns = slot_ns + dispatch->options.slot_ns;
    return slot_ns;
}

/* Returns 0 or a negative errno. */
static int leave(struct dwcs_dispatch *dispatch)
{
    dispatch->is_left = true;
    return change_policies(dispatch);
}

enum { AT_TIMER, AT_LEAVE_TIMER, AT_OTHER_FILE, AT_GUARD, OTHERS };

/* Lists what is waited for; members only if something can be decided. Returns how many. */
static int list_files(const struct dwcs_dispatch *dispatch, int other_file, struct pollfd *polled)
{
    int count = OTHERS;
    polled[AT_TIMER] = (struct pollfd){.fd = dispatch->timer, .events = POLLIN};
    polled[AT_LEAVE_TIMER] = (struct pollfd){.fd = dispatch->leave_timer, .events = POLLIN};
    polled[AT_OTHER_FILE] = (struct pollfd){.fd = other_file, .events = POLLIN};
    polled[AT_GUARD] = (struct pollfd){.fd = dispatch->guard.pidfd, .events = POLLIN};
    for (int i = 0; i < dispatch->count && !dispatch->is_left; i++) {
        const struct dispatched *const one = &dispatch->of[i];
        if (one->has_ended)
            continue;
        polled[count++] = (struct pollfd){.fd = one->member.pidfd, .events = POLLIN};
        if (dispatch->may_change)
            count += event_source_poll(&one->source, &polled[count]);
    }
    return count;
}

/* True from the time in each slot on that is left to ordinary threads, also if a late decision came after it. */
static bool must_leave(const struct dwcs_dispatch *dispatch)
{
    const int64_t leave_ns = dispatch->options.leave_ns;
    return leave_ns && !dispatch->is_left && dispatch_now_ns() >= dispatch->next_slot_ns - leave_ns;
}

static int act(struct dwcs_dispatch *dispatch, bool begins_slot)
{
    uint64_t expirations;
    const bool ends_slot = read(dispatch->leave_timer, &expirations, sizeof expirations) == sizeof expirations;
    int error = 0;
    if (begins_slot || !(ends_slot || dispatch->is_left))
        error = decide(dispatch, decision_time_ns(dispatch));
    return !error && must_leave(dispatch) ? leave(dispatch) : error;
}

int dwcs_dispatch_step(struct dwcs_dispatch *dispatch, int other_file)
{
    struct pollfd polled[OTHERS + 2 * MEMBERS];
    int living = 0;
    if (poll(polled, (nfds_t)list_files(dispatch, other_file, polled), -1) < 0 && errno != EINTR)
        return -errno;
    if (polled[AT_GUARD].revents)
        return -EOWNERDEAD;
    const int error = act(dispatch, polled[AT_TIMER].revents);
    for (int i = 0; i < dispatch->count; i++)
        living += !dispatch->of[i].has_ended;
    return error ? error : living;
}
