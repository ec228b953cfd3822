/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options of dlex-sched-pman: a graph of processes, or what to do with one that exists. */
#ifndef SCHED_GRAPH_OPTIONS_H
#define SCHED_GRAPH_OPTIONS_H

#include "pman.h"

#include <stdbool.h>

enum graph_exit { EXIT_DONE = 0, EXIT_USAGE = 1, EXIT_IMPOSSIBLE = 2 };

enum { GRAPH_EDGES = PMAN_CAPACITY * (PMAN_CAPACITY - 1) / 2 };

/* How a command of the graph is activated. */
enum graph_start {
    GRAPH_WAITS,     /* it calls pman_wait */
    GRAPH_STOPS,     /* it stops itself (SIGSTOP) when it is ready, and after each instance */
    GRAPH_ELSEWHERE, /* no command; somebody attaches a process */
};

struct graph_process {
    char name[PMAN_NAME_SIZE];     /* letters, digits, _ and - */
    char recovery[PMAN_NAME_SIZE]; /* empty: none */
    struct pman_timing timing;
    int priority;
    enum graph_start start;
    bool restarts;                 /* the command is started again when it has ended */
    const char *command;           /* for the shell; an argument of main */
};

/* Indexes of processes. */
struct graph_edge {
    int process;
    int predecessor;
};

enum graph_mode { GRAPH_RUN, GRAPH_TAKE_OVER, GRAPH_END };

struct graph_options {
    enum graph_mode mode;
    char name[PMAN_NAME_SIZE];   /* of the table */
    int64_t tick_ns;             /* 0: ticks come from outside */
    enum pman_deadlines deadlines;
    int manager_priority;        /* -1: one above the highest of all processes; 0 if they have none */
    double seconds;              /* 0: no limit */
    int64_t ticks;               /* 0: no limit */
    const char *log;             /* NULL: none */
    struct graph_process process[PMAN_CAPACITY];
    int processes;
    struct graph_edge edge[GRAPH_EDGES];
    int edges;
};

/* Parses the command line into *options. Exits with EXIT_USAGE after a wrong option, and with EXIT_DONE after --help. */
void graph_options_parse(struct graph_options *options, int argc, char **argv);

#endif
