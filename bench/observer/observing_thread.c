/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "observing_thread.h"

#include "ns.h"

#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

/* Above the lowest priorities, which ordinary real-time programs use; far below those of kernel threads. */
enum { PRIORITY = 10 };

int observing_thread_place(int cpu)
{
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    return sched_setaffinity(0, sizeof cpus, &cpus) ? -errno : 0;
}

const char *observing_thread_hurry(void)
{
    mlockall(MCL_CURRENT); /* if this is not permitted, the memory has at least been written to */
    prctl(PR_SET_TIMERSLACK, 1UL);
    const struct sched_param param = {.sched_priority = PRIORITY};
    return sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param) ? "other" : "fifo:10";
}

double observing_thread_cpu_s(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return ns_to_s(ns_from_timespec(used));
}
