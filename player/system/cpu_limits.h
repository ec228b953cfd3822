/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much of the machine's CPUs the program may use. */
#ifndef PLAYER_CPU_LIMITS_H
#define PLAYER_CPU_LIMITS_H

#include "control_groups.h"

/* Returns on how many CPUs the calling thread may run; at least 1. */
int cpu_limits_affinity(void);

/*
 * Returns how many CPUs the control groups allow at most, e.g. 1.5: a quota of CPU time, divided by its period. The group
 * with the least counts. INFINITY: there is no quota.
 */
double cpu_limits_quota(const struct control_group_files *files);

#endif
