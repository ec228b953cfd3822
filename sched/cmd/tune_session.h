/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One player being tuned: what is done at each tick. Starting, signals and ending are in tune_run.c. */
#ifndef SCHED_TUNE_SESSION_H
#define SCHED_TUNE_SESSION_H

#include "process_watch.h"
#include "tune_holds.h"
#include "tune_report.h"
#include "tuner.h"

#include <stdbool.h>
#include <stdint.h>

/* What is asked for. */
struct tune_request {
    pid_t process;      /* 0: the command */
    char **command;     /* ends in NULL; NULL: the process */
    bool is_dry;        /* reserve nothing */
    bool with_check;    /* find out whether it helps */
    bool is_strict;     /* no thread uses more than its reservation */
    bool is_quiet;
    double limit;       /* of the sum of all reservations, as a part of a CPU */
    enum budget_rule rule;
    int64_t period_ns;  /* of all reservations; 0: that of each thread */
    const char *record; /* path; NULL: none */
};

/* What was known of the thread in a place of the watch. */
struct tune_seen {
    int64_t id;
    bool is_announced;       /* with its rate */
    bool is_trial_announced;
    int64_t throttled_at_update;
    int64_t cpu_at_update_ns;
    int64_t updated_ns;      /* 0: not yet */
    int64_t throttled_at_second;
    int64_t cpu_at_second_ns;
    bool is_starving;        /* in the last second */
    bool has_times;          /* the next two are known */
    int64_t running_ns;      /* see thread_list_times */
    int64_t waiting_ns;
    bool has_lateness;       /* the next one is known */
    int64_t late_ns;         /* in the last window with reservations, of --check */
};

/* Begins by tune_session_init. */
struct tune_session {
    const struct tune_request *request;
    struct process_watch *watch; /* the caller's */
    struct tuner tuner;
    struct tune_holds holds;
    struct tune_report report;
    struct wake_comparison comparison;
    bool is_reserving;   /* tune_holds_begin was called; otherwise nothing is reserved */
    bool is_off;         /* reservations are switched off to compare */
    bool is_checked;     /* there was a detection after the one that found the known rate */
    int64_t begun_ns;
    int64_t window_ns;   /* since when the next detection may look */
    int64_t detected_ns; /* the last detection; begun_ns: there was none */
    int64_t compared_ns; /* since when reservations are on or off; 0: not yet */
    int64_t greedy_ns;   /* since when the threads have used more than the limit; 0: they do not */
    int64_t strict_ns;   /* until when they get no more than what is reserved, because of that */
    int64_t second_ns;   /* when the last second was reported */
    struct tune_seen seen[WATCHED_THREADS_MAX];
    int64_t cpu_ns[TUNED_THREADS_MAX][2 * BUDGET_PERIODS];
    struct period_work work;
};

enum { TUNE_TICK_MS = 100 };

/* Begins a session at now_ns, when `watch` begins. The report must have begun. */
void tune_session_init(struct tune_session *session, const struct tune_request *request, struct process_watch *watch,
                       int64_t now_ns);

/*
 * Does what is due at the tick with this number, from 1 on; a tick is 100 ms. tick_ns: when it was due, now_ns: when it is.
 * Returns false if the player has ended.
 */
bool tune_session_tick(struct tune_session *session, int64_t tick, int64_t tick_ns, int64_t now_ns);

#endif
