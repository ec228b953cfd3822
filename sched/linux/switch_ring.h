/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The context switches of one thread, from the kernel's perf events. The thread is not stopped and does not notice; a switch
 * costs it some 0.6 us more. An ordinary user may observe threads of own programs if kernel.perf_event_paranoid is at most 2.
 * Times are CLOCK_MONOTONIC. Not thread-safe.
 */
#ifndef SCHED_SWITCH_RING_H
#define SCHED_SWITCH_RING_H

#include "job_fold.h"
#include "perf_ring.h"

#include <stdbool.h>

/* Called for each switch in the order of time. */
typedef void switch_sink(void *context, const struct thread_switch *at);

/*
 * Begins to record the switches of a thread; perf_ring_close ends it. Returns 0 or a negative errno, with nothing to close: -ESRCH
 * (no such thread), -EACCES or -EPERM (not allowed; switch_ring_remedy says why), -EMFILE, -ENOMEM.
 */
int switch_ring_open(struct perf_ring *ring, pid_t thread);

/*
 * Passes on what was recorded since the last call. Never blocks. Returns true if the list of threads, or a name in it, may have changed
 * since: the thread has started a thread or a process, called exec, named itself or another thread, or ended; or records were lost.
 */
bool switch_ring_drain(struct perf_ring *ring, switch_sink *sink, void *context);

enum { SWITCH_RING_REMEDY_SIZE = 256 };

/* Writes one sentence about an error of switch_ring_open, with what would help, and returns it. */
const char *switch_ring_remedy(int error, char text[SWITCH_RING_REMEDY_SIZE]);

/* The same on a machine with this kernel.perf_event_paranoid. Pure. */
const char *switch_ring_remedy_under(int error, long paranoid, char text[SWITCH_RING_REMEDY_SIZE]);

#endif
