/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memory.h"

#include "control_groups.h"

#include <inttypes.h>
#include <stdio.h>

static int64_t available_in_machine(void)
{
    char line[256];
    int64_t kib = -1;
    FILE *const file = fopen("/proc/meminfo", "r");
    if (!file)
        return INT64_MAX;
    while (kib < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %" SCNd64 " kB", &kib) != 1)
            kib = -1;
    fclose(file);
    return kib < 0 ? INT64_MAX : kib * 1024;
}

/* Lowers *least to what is left of one group's limit, if it has one. */
static void lower_to_group(void *least, const char *folder, bool is_unified)
{
    const int64_t limit = control_group_number(folder, is_unified ? "memory.max" : "memory.limit_in_bytes");
    const int64_t used = control_group_number(folder, is_unified ? "memory.current" : "memory.usage_in_bytes");
    if (limit < 0 || used < 0 || limit >= INT64_MAX / 2)
        return;
    const int64_t left = used < limit ? limit - used : 0;
    if (left < *(int64_t *)least)
        *(int64_t *)least = left;
}

int64_t memory_available_bytes(void)
{
    int64_t least = available_in_machine();
    control_groups_visit(&control_groups_of_system, "memory", lower_to_group, &least);
    return least;
}
