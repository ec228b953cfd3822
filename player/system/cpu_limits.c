/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu_limits.h"

#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

enum { LINE_SIZE = 64 };

int cpu_limits_affinity(void)
{
    cpu_set_t cpus;
    if (!sched_getaffinity(0, sizeof cpus, &cpus))
        return CPU_COUNT(&cpus);
    const long online = sysconf(_SC_NPROCESSORS_ONLN); /* more CPUs than a cpu_set_t holds */
    return online > 0 ? (int)online : 1;
}

double cpu_limits_least(const struct cpu_limits *limits)
{
    return limits->cpus ? fmin(limits->cpus, limits->quota) : INFINITY;
}

/* Reads "50000 100000" or "max 100000", version 2's file. Returns the quotient; INFINITY for "max" and without a file. */
static double unified_quota(const char *folder)
{
    char path[2 * PATH_MAX];
    char line[LINE_SIZE] = "";
    double quota_us;
    double period_us;
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    FILE *const file = fopen(path, "r");
    if (!file)
        return INFINITY;
    const bool is_read = fgets(line, sizeof line, file) && sscanf(line, "%lf %lf", &quota_us, &period_us) == 2;
    fclose(file);
    return is_read && quota_us > 0 && period_us > 0 ? quota_us / period_us : INFINITY;
}

/* A quota of -1 is none. */
static double divided_quota(const char *folder)
{
    const int64_t quota_us = control_group_number(folder, "cpu.cfs_quota_us");
    const int64_t period_us = control_group_number(folder, "cpu.cfs_period_us");
    return quota_us > 0 && period_us > 0 ? (double)quota_us / (double)period_us : INFINITY;
}

static void lower_to_group(void *least, const char *folder, bool is_unified)
{
    const double quota = is_unified ? unified_quota(folder) : divided_quota(folder);
    if (quota < *(double *)least)
        *(double *)least = quota;
}

double cpu_limits_quota(const struct control_group_files *files)
{
    double least = INFINITY;
    control_groups_visit(files, "cpu", lower_to_group, &least);
    return least;
}
