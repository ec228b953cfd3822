/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the two files of the dispatcher share: dispatch_life.c, how it begins and ends, and dwcs_dispatch.c, what it decides. */
#ifndef SCHED_DISPATCH_STATE_H
#define SCHED_DISPATCH_STATE_H

#include "dwcs_dispatch.h"
#include "window_count.h"

enum { MEMBERS = GUARD_CAPACITY };

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
    int timer;                   /* for the beginning of each slot */
    int leave_timer;             /* for the time in each slot from which on it is left to ordinary threads */
    int64_t now_ns;              /* of the last decision */
    int64_t next_slot_ns;
    bool is_left;                /* the present slot, to ordinary threads */
    bool may_change;             /* no policy has changed in this slot, and no event was looked at */
    struct event_choice choice;  /* of the last decision; runs: DWCS_NONE before the first one */
    struct dispatch_totals totals;
};

/* CLOCK_MONOTONIC. */
int64_t dispatch_now_ns(void);

/* Where a member is while it is not chosen. */
enum member_place dispatch_place_beside(const struct dwcs_dispatch *dispatch, const struct dispatched *one);

#endif
