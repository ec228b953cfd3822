/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLAYER_THREAD_CPU_H
#define PLAYER_THREAD_CPU_H

#include "ns.h"

/* Returns the CPU time in ns that the calling thread has used. Async-signal-safe. */
static inline int64_t thread_cpu_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return ns_from_timespec(used);
}

/* Returns the CPU time in ns that all threads of the program have used. */
static inline int64_t program_cpu_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return ns_from_timespec(used);
}

#endif
