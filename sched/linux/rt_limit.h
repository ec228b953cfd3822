/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RLIMIT_RTTIME: a process with a thread under SCHED_FIFO or SCHED_RR that computes for so long without sleeping gets SIGXCPU (soft
 * limit) or SIGKILL (hard limit). Clients of rtkit, such as sound libraries, must set 200 ms for their whole process, which then
 * dies when a decoder catches up under a fixed priority. SCHED_DEADLINE does not count (measured on Linux 6.18).
 */
#ifndef SCHED_RT_LIMIT_H
#define SCHED_RT_LIMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum rt_limit {
    RT_LIMIT_NONE,   /* there is no limit, or no such process */
    RT_LIMIT_LIFTED, /* there is none any more */
    RT_LIMIT_STAYS,  /* this process may not lift it; the soft limit is the hard one now */
};

enum { RT_LIMIT_TEXT_SIZE = 320, RT_LIMIT_REPORTS_MAX = 64 };

/* The processes that were reported, each once. Begins as zero. */
struct rt_limit_reports {
    pid_t process[RT_LIMIT_REPORTS_MAX];
    int count;
};

/* Returns whether the process was not reported yet, and remembers it. */
bool rt_limit_is_first(struct rt_limit_reports *reports, pid_t process);

/* Lifts the limit of a process (0: the caller's own), as far as allowed. *limit_us: what it was; unchanged if there was none. */
enum rt_limit rt_limit_lift(pid_t process, int64_t *limit_us);

/* Returns a sentence without a full stop about a limit that was lifted, or stays. */
const char *rt_limit_text(enum rt_limit found, pid_t process, const char *name, int64_t limit_us, char text[RT_LIMIT_TEXT_SIZE]);

#endif
