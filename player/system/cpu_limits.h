/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much of the machine's CPUs the program may use. Both limits may change at any time: limits_watch.h follows them. */
#ifndef PLAYER_CPU_LIMITS_H
#define PLAYER_CPU_LIMITS_H

#include "control_groups.h"

/* Plain data. Zero: the limits are not known. */
struct cpu_limits {
    int cpus;     /* on how many the threads that decode or present may run */
    double quota; /* how many the control groups allow at most, e.g. 1.5; INFINITY: there is no quota */
};

static inline bool cpu_limits_are_equal(const struct cpu_limits *a, const struct cpu_limits *b)
{
    return a->cpus == b->cpus && a->quota == b->quota;
}

/* Returns how many CPUs the program may use at most; INFINITY if that is not known. */
double cpu_limits_least(const struct cpu_limits *limits);

/* Returns on how many CPUs the calling thread may run; at least 1. */
int cpu_limits_affinity(void);

/*
 * Returns how many CPUs the control groups allow at most, e.g. 1.5: a quota of CPU time, divided by its period. The group
 * with the least counts. INFINITY: there is no quota.
 */
double cpu_limits_quota(const struct control_group_files *files);

#endif
