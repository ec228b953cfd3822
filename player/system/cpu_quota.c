/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu_quota.h"

#include "ns.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_SIZE = 64, STAT_SIZE = 1024, DECIMAL = 10 };

/* Reads "50000 100000" or "max 100000", version 2's file, in us. Returns false for "max" and without a file. */
static bool read_unified(const char *folder, int64_t *quota_us, int64_t *period_us)
{
    char path[2 * PATH_MAX];
    char line[LINE_SIZE] = "";
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    FILE *const file = fopen(path, "r");
    if (!file)
        return false;
    const bool is_read = fgets(line, sizeof line, file) && sscanf(line, "%" SCNd64 " %" SCNd64, quota_us, period_us) == 2;
    fclose(file);
    return is_read;
}

static bool read_divided(const char *folder, int64_t *quota_us, int64_t *period_us)
{
    *quota_us = control_group_number(folder, "cpu.cfs_quota_us");
    *period_us = control_group_number(folder, "cpu.cfs_period_us");
    return true;
}

static void lower_to_group(void *arg, const char *folder, bool is_unified)
{
    struct cpu_quota *const least = arg;
    int64_t quota_us;
    int64_t period_us;
    const bool is_read = is_unified ? read_unified(folder, &quota_us, &period_us) : read_divided(folder, &quota_us, &period_us);
    if (!is_read || quota_us <= 0 || period_us <= 0)
        return;
    if (least->period_ns && (double)quota_us * (double)least->period_ns >= (double)least->quota_ns * (double)period_us)
        return;
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/cpu.stat", folder);
    cpu_quota_close(least);
    *least = (struct cpu_quota){quota_us * NS_PER_US, period_us * NS_PER_US, open(path, O_RDONLY | O_CLOEXEC)};
}

void cpu_quota_open(struct cpu_quota *quota, const struct control_group_files *files)
{
    *quota = (struct cpu_quota){.stat = -1};
    control_groups_visit(files, "cpu", lower_to_group, quota);
}

void cpu_quota_close(struct cpu_quota *quota)
{
    if (quota->stat >= 0)
        close(quota->stat);
    quota->stat = -1;
}

int64_t cpu_quota_throttled(const struct cpu_quota *quota)
{
    static const char name[] = "nr_throttled ";
    char text[STAT_SIZE];
    const ssize_t size = quota->stat < 0 ? -1 : pread(quota->stat, text, sizeof text - 1, 0);
    if (size < 0)
        return -1;
    text[size] = '\0';
    const char *at = strstr(text, name);
    if (!at)
        return -1;
    int64_t number = 0;
    for (at += sizeof name - 1; *at >= '0' && *at <= '9'; at++)
        number = DECIMAL * number + (*at - '0');
    return number;
}
