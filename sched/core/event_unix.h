/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Event scheduling with the traditional UNIX scheduler (seed 001, section 3.1, two rules). Pure. */
#ifndef SCHED_EVENT_UNIX_H
#define SCHED_EVENT_UNIX_H

#include <stdbool.h>

enum unix_class { UNIX_OTHER, UNIX_RR, UNIX_FIFO };

struct unix_process {
    enum unix_class policy;
    int priority; /* of rr and fifo: 1 to 99, more is more urgent */
};

/*
 * Returns true if a runnable sink of the first event runs instead of the process that the UNIX scheduler selected.
 * Rule 1: a real-time sink (fifo or rr) precedes processes of the same or a lower priority. Rule 2: an ordinary sink
 * precedes ordinary processes. No sink precedes a process of a higher priority.
 */
bool event_unix_precedes(const struct unix_process *sink, const struct unix_process *selected);

#endif
