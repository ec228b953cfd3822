/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The control group that gives the program the least CPU time. */
#ifndef PLAYER_CPU_QUOTA_H
#define PLAYER_CPU_QUOTA_H

#include "control_groups.h"

#include <stdint.h>

struct cpu_quota {
    int64_t quota_ns;  /* CPU time of all its threads … */
    int64_t period_ns; /* … in each such time; 0: there is no quota */
    int stat;          /* its file cpu.stat, for cpu_quota_throttled; -1: it cannot be read */
};

/* Finds it. cpu_quota_close gives the file back. */
void cpu_quota_open(struct cpu_quota *quota, const struct control_group_files *files);
void cpu_quota_close(struct cpu_quota *quota);

/* Returns in how many periods the kernel has halted the group so far; -1: it is not known. Async-signal-safe. */
int64_t cpu_quota_throttled(const struct cpu_quota *quota);

#endif
