/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A periodic task under static priorities (seed 004, section 3.1), as plain data. All times in ns. */
#ifndef SCHED_RM_TASK_H
#define SCHED_RM_TASK_H

#include <stdbool.h>
#include <stdint.h>

enum rm_class {
    RM_GUARANTEED,  /* has its deadlines guaranteed, by its longest cost */
    RM_STATISTICAL, /* meets them on average; has the lower part of the priorities */
};

struct rm_task {
    enum rm_class kind;
    int64_t period_ns;
    int64_t deadline_ns;  /* after the release; 0 < deadline_ns <= period_ns */
    int64_t cost_max_ns;  /* WCET, > 0; a statistical task may have 0 */
    int64_t cost_mean_ns; /* > 0 */
    int level;            /* priority: a higher number precedes; tasks of one level are served first come first served */
    bool has_moved;       /* the last rm_levels_add gave it another level */
};

#endif
