/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What PMan's table and its callers share: attributes and statistics of processes (seed 002, Table 1). Plain data. */
#ifndef DLEX_PMAN_TYPES_H
#define DLEX_PMAN_TYPES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PMAN_CAPACITY = 64,  /* processes in one table at most */
    PMAN_NAME_SIZE = 32, /* with the 0 at the end */
};

enum pman_status {
    PMAN_FREE,       /* not a process */
    PMAN_REGISTERED, /* without a pid; never due */
    PMAN_IDLE,
    PMAN_BLOCKED,    /* due; at least one predecessor has not finished */
    PMAN_WAITING,    /* due; until its delay has passed */
    PMAN_RUNNING,
    PMAN_DIED,       /* as registered; its process has ended without detaching */
};

/* Times are at most PMAN_TIME_MAX. */
struct pman_timing {
    int64_t period;      /* ticks; 0: never due by itself, as recovery processes are */
    int64_t phase;       /* ticks; >= 0 */
    int64_t delay_ns;    /* from the tick; >= 0 */
    int64_t deadline_ns; /* from the release; 0: none */
};

#define PMAN_TIME_MAX (INT64_C(1) << 60) /* ns: 36 years, so that sums of times do not overflow */

/* The fields of pman_timing, as a set. */
enum pman_fields { PMAN_PERIOD = 1, PMAN_PHASE = 2, PMAN_DELAY = 4, PMAN_DEADLINE = 8 };

/* When deadlines are looked at. */
enum pman_deadlines {
    PMAN_DEADLINES_TIMER, /* when they pass */
    PMAN_DEADLINES_TICK,  /* at the next tick, or in the epilogue if that is earlier, as in the seed */
};

/* Times are int64_t ns of CLOCK_MONOTONIC. */
struct pman_statistics {
    enum pman_status status;
    int32_t pid;            /* 0: none */
    int32_t priority;       /* 0: none, an ordinary process */
    int64_t activations;    /* instances that were released */
    int64_t misses;         /* of deadlines */
    int64_t skips;          /* activations that found the last instance unfinished */
    int64_t last_start_ns;  /* when the process began its last instance: pman_wait returned, or it got the signal; -1: never */
    int64_t last_finish_ns; /* -1: never */
    int32_t has_waited;     /* 1: the process has called pman_wait since it was attached */
};

#ifdef __cplusplus
}
#endif

#endif
