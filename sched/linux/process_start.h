/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When a process started: with its id this names it for ever, while an id alone may be given to a later process. */
#ifndef SCHED_PROCESS_START_H
#define SCHED_PROCESS_START_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCESS_START_UNKNOWN UINT64_MAX

/*
 * Returns when a process started, in ticks since the machine did; never 0 for a process that lives. 0: there is no such process,
 * or it has ended and its parent has not looked yet. PROCESS_START_UNKNOWN: no file can be opened or read to find out.
 * A process whose main thread has ended lives while other threads of it run.
 */
uint64_t process_start(pid_t pid);

/* True if the process with this id, which started then, has not ended, as far as that can be found out. */
bool process_lives(pid_t pid, uint64_t start);

#endif
