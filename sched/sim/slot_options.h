/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options of dlex-sched-sim. */
#ifndef SLOT_OPTIONS_H
#define SLOT_OPTIONS_H

#include "dwcs_arguments.h"
#include "dwcs_paper.h"

#include <stdbool.h>

enum { SLOT_EVENTS = EVENT_CAPACITY, SLOT_ALL = -1 };

struct slot_planned_event {
    int task;
    int64_t due_ns;
};

struct slot_options {
    /* With tasks: their schedule. */
    struct named_task task[SLOT_TASKS];
    int tasks;
    struct slot_planned_event event[SLOT_EVENTS];
    int events;
    unsigned rules;                    /* enum event_rules */
    unsigned rule_4;                   /* EVENT_RULE_4_STRICT, EVENT_RULE_4_SAFE or 0; also for the experiments */
    bool has_server;
    struct dwcs_server_options server;
    int slots;
    /* Without: the seed's experiments. */
    int experiment;                    /* enum dwcs_experiment, or SLOT_ALL */
    int players;                       /* or SLOT_ALL: 1 to DWCS_PAPER_PLAYERS */
    unsigned readings;                 /* a set of enum dwcs_reading */
    int64_t cost_min_ns;               /* of the frames; 0: the experiment's */
    int64_t cost_max_ns;
    int64_t sleep_ns;                  /* after each frame; 0: the experiment's */
    int runs;
    int seed;                          /* of the first run; each has the next one */
    int seconds;                       /* of each run */
    int delays;                        /* how many delays of the first player are printed */
};

/* The names of the readings on command lines and in JSON, in the order of their bits. */
enum { SLOT_READINGS = 3 };
extern const char *const slot_reading_names[SLOT_READINGS];

/* A slot is the seed's time base. */
#define SLOT_NS INT64_C(10000000)

/* Parses the command line. Exits with status 1 after a wrong option, and with 0 after --help. */
struct slot_options slot_options_parse(int argc, char **argv);

#endif
