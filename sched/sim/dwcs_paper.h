/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The experiments with video players of seed 001, section 4, on the slot simulator: Tables 3 to 6 and Figures 5 to 8, and what
 * the seed says about each, as data.
 *
 * The seed gives attributes, rules and numbers of players. It does not give the costs of its frames, and its curves are lost.
 * The costs are ours (see dwcs_settings), so that absolute delays mean little here. What can be compared: the sign and the rough
 * size of a change, and which rule acts in which situation.
 */
#ifndef DWCS_PAPER_H
#define DWCS_PAPER_H

#include "slot_sim.h"

enum dwcs_experiment {
    DWCS_FIGURE_5, /* players alone, the base */
    DWCS_TABLE_3,  /* Rule 2 */
    DWCS_TABLE_4,  /* Rule 3; also Figure 6 */
    DWCS_TABLE_5,  /* Rule 4 */
    DWCS_TABLE_6,  /* Rule 5; also Figure 7 */
    DWCS_FIGURE_8, /* all rules, in overload */
    DWCS_EXPERIMENTS,
};

struct dwcs_setting {
    const char *name;               /* for people and command lines */
    int players_min, players_max;   /* as in the seed; other numbers can be run, too */
    struct dwcs_params process;     /* of each player; the seed's */
    unsigned rules;                 /* enum event_rules, when events are on */
    bool has_best_effort;           /* an endless best-effort process runs beside them */
    bool has_server;                /* Rule 5 */
    bool has_disturber;             /* an endless real-time process, T = 20 ms, C = 10 ms, 1/5, not work-conserving */
    struct slot_player frames;      /* ours; first_ns is random */
};

extern const struct dwcs_setting dwcs_settings[DWCS_EXPERIMENTS];

enum { DWCS_PAPER_PLAYERS = 10 }; /* the most in the seed */

/* Readings of the seed that differ from ours. docs/window-constraints.md says what each changes. */
enum dwcs_reading {
    DWCS_FIRST_EVENT = 1 << 0, /* the event scheduler looks at the first event only, as in the seed's pseudo-code */
    DWCS_BY_DEADLINE = 1 << 1, /* work-conserving players that have had C compete by their deadlines (keeps_rank) */
    DWCS_TOGETHER = 1 << 2,    /* all periods begin together, and go on while a player sleeps (keeps_periods) */
};

struct dwcs_paper_options {
    int players;             /* 1 to 30 */
    bool has_events;         /* false: DWCS alone, to compare with */
    unsigned rule_4;         /* EVENT_RULE_4_STRICT, EVENT_RULE_4_SAFE or 0: as in the seed, with >= */
    unsigned readings;       /* a set of enum dwcs_reading */
    int64_t cost_min_ns;     /* of the frames, at most cost_max_ns; 0: both as in the setting */
    int64_t cost_max_ns;
    int64_t sleep_ns;        /* after each frame; 0: as in the setting */
    uint64_t seed;
    int64_t duration_ns;     /* virtual */
    int64_t *trace_ns;       /* run-queue delays of the first player's first frames; NULL: not wanted. The caller's */
    int trace_capacity;
};

struct dwcs_figures {
    double utilisation;      /* the least that the real-time processes need, by their attributes */
    int64_t frames;          /* begun, of all players */
    int64_t delay_mean_ns;   /* run-queue delay of all frames of all players; 0 without a frame */
    int64_t delay_max_ns;
    int64_t response_mean_ns; /* of all finished frames of all players; 0 without one */
    int64_t events;          /* delivered */
    int64_t swaps;           /* of them, those that made another process run */
};

/* Runs an experiment. Returns 0, or -EINVAL: too many players or none, or wrong costs. */
int dwcs_paper_run(enum dwcs_experiment experiment, const struct dwcs_paper_options *options, struct dwcs_figures *figures);

enum dwcs_metric {
    DWCS_SWAPS_PERCENT,       /* of the events */
    DWCS_MEAN_WITHOUT_MS,     /* run-queue delay, without events */
    DWCS_MEAN_WITH_MS,
    DWCS_MAX_WITHOUT_MS,
    DWCS_MAX_WITH_MS,
    DWCS_REDUCTION_PERCENT,   /* of the mean delay, by events */
};

/* A number that the seed reports: between low and high, which are equal where it gives one number. */
struct dwcs_claim {
    const char *where;
    enum dwcs_experiment experiment;
    int players;
    enum dwcs_metric metric;
    double low, high;
};

extern const struct dwcs_claim dwcs_claims[];
extern const int dwcs_claim_count;

/* Returns the metric of two runs that differ in the events only. NAN if it has no value (no event, no delay). */
double dwcs_metric_of(enum dwcs_metric metric, const struct dwcs_figures *without, const struct dwcs_figures *with);

#endif
