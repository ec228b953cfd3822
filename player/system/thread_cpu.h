/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLAYER_THREAD_CPU_H
#define PLAYER_THREAD_CPU_H

#include "ns.h"

#include <sys/types.h>
#include <time.h>

/* Returns the CPU time in ns that the calling thread has used. Async-signal-safe. */
static inline int64_t thread_cpu_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return ns_from_timespec(used);
}

/*
 * The kernel's number of a thread's clock is the inverted id and these bits; pthread_getcpuclockid computes the same, but
 * needs a pthread_t, which nobody has of a library's thread.
 */
enum { THREAD_CLOCK_SHIFT = 3, THREAD_CLOCK_OF_ONE_THREAD = 4, THREAD_CLOCK_OF_SCHEDULER = 2 };

/* Returns the CPU time in ns that a thread of this process has used; 0 if it has ended. Async-signal-safe. */
static inline int64_t thread_cpu_ns_of(pid_t thread)
{
    const unsigned clock =
        ~(unsigned)thread << THREAD_CLOCK_SHIFT | THREAD_CLOCK_OF_ONE_THREAD | THREAD_CLOCK_OF_SCHEDULER;
    struct timespec used;
    return clock_gettime((clockid_t)clock, &used) ? 0 : ns_from_timespec(used);
}

/* Returns the CPU time in ns that all threads of the program have used. */
static inline int64_t program_cpu_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return ns_from_timespec(used);
}

#endif
