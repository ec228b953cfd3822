/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When a process started: with its id this names it for ever, while an id alone may be given to a later process. */
#ifndef SCHED_PROCESS_START_H
#define SCHED_PROCESS_START_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Returns when a process started, in ticks since the machine did; never 0 for a process that lives. 0: there is no such process,
 * or it has ended and its parent has not looked yet.
 */
uint64_t process_start(pid_t pid);

#endif
