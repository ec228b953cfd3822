/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The commands of a graph: starts them as processes of the table, notices when they stop or end, and ends them. One thread. */
#ifndef SCHED_GRAPH_CHILDREN_H
#define SCHED_GRAPH_CHILDREN_H

#include "graph_options.h"

#include <stdint.h>
#include <sys/types.h>

struct graph_child {
    pid_t pid;          /* of its shell and its process group; 0: none */
    bool has_ended;     /* the shell; what it has started in the background may still run */
    bool is_attached;
    int64_t started_ns;
};

struct graph_children {
    struct pman *pman;
    const struct graph_options *options;
    struct graph_child child[PMAN_CAPACITY]; /* by index of the process in the options */
};

/*
 * Starts all commands. The caller has blocked SIGCHLD and looks at the children when it comes. Returns 0, or a negative errno
 * after a message; then some may run, so call graph_children_end.
 */
int graph_children_start(struct graph_children *children, struct pman *pman, const struct graph_options *options);

/*
 * Ends the instances of those that have stopped themselves, reports those that have ended, and starts these again if they
 * shall be; not more than once a second each.
 */
void graph_children_look(struct graph_children *children);

/* Returns the name of a process that is not ready for its first instance, or NULL. */
const char *graph_children_unready(const struct graph_children *children);

/* Returns the name of a process whose command has ended and will not be started again, or NULL. */
const char *graph_children_lost(const struct graph_children *children);

/*
 * Ends all that still run, also in the background of shells that have ended: waits a second, then by SIGTERM, then by SIGKILL. Call it
 * when the table is closed.
 */
void graph_children_end(struct graph_children *children);

#endif
