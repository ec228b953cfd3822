/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cases in which dlex-bench-decode measures expiry to control: clips, both ways, scheduling policies, alone and beside programs
 * that always compute, and with frame threads.
 */
#ifndef LATENCY_CASES_H
#define LATENCY_CASES_H

#include "abort_latency.h"

enum { LATENCY_CLIPS_MAX = 3, LATENCY_CASES_MAX = 9 * LATENCY_CLIPS_MAX };

struct latency_case {
    const char *clip; /* its path; owned by the caller */
    bool is_fifo;     /* under SCHED_FIFO, else under SCHED_OTHER */
    int load;         /* how many programs computed beside it; with load and with frame threads there is no goal */
    bool is_measured; /* false: this account may not use SCHED_FIFO */
    struct abort_latency latency;
};

struct latency_settings {
    const char *clips[LATENCY_CLIPS_MAX]; /* NULL: there is none */
    int64_t deadline_base_ns;
    int aborts;
    int most_passes;
    bool without_fifo;
};

struct latency_cases {
    struct latency_case cases[LATENCY_CASES_MAX];
    int count;
};

/*
 * Measures all cases on the calling thread, whose policy is SCHED_OTHER afterwards. Prints a line to stderr when a case
 * begins, and one sentence on failure. Returns 0 or a negative AVERROR; in both cases latency_cases_finish() frees the results.
 */
int latency_cases_measure(struct latency_cases *cases, const struct latency_settings *settings);
void latency_cases_finish(struct latency_cases *cases);

/* Returns "jump" or "poll". */
const char *latency_case_way(const struct latency_case *it);

bool latency_case_has_goal(const struct latency_case *it);

#endif
