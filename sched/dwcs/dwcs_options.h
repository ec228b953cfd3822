/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options of dlex-sched-dwcs. */
#ifndef SCHED_DWCS_OPTIONS_H
#define SCHED_DWCS_OPTIONS_H

#include "dwcs_arguments.h"
#include "dwcs_dispatch.h"

enum dwcs_exit { EXIT_DONE = 0, EXIT_USAGE = 1, EXIT_IMPOSSIBLE = 2 };

struct dwcs_task_options {
    struct named_task task;
    const char *command;     /* for the shell; NULL: none */
    pid_t pid;               /* of a process that runs already; 0: none */
    enum event_source_kind events;
    int socket;
};

struct dwcs_options {
    struct dwcs_task_options task[GUARD_CAPACITY];
    int tasks;
    struct dispatch_options dispatch; /* server is not set; see has_server */
    bool has_server;
    struct dwcs_server_options server;
    unsigned rule_4;
    int seconds;             /* 0: no limit */
};

/* Parses the command line into *options. Exits with EXIT_USAGE after a wrong option, and with EXIT_DONE after --help. */
void dwcs_options_parse(struct dwcs_options *options, int argc, char **argv);

#endif
