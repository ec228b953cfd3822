/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Reads the first number of a file. Returns -1 if there is none; "max", as control groups write it, is INT64_MAX. */
static int64_t read_number(const char *path)
{
    char text[64] = "";
    int64_t number = -1;
    FILE *const file = fopen(path, "r");
    if (!file)
        return -1;
    if (fgets(text, sizeof text, file) && sscanf(text, "%" SCNd64, &number) != 1)
        number = strncmp(text, "max", 3) ? -1 : INT64_MAX;
    fclose(file);
    return number;
}

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

/* Returns what is left of one group's limit, INT64_MAX if it has none. */
static int64_t left_in_group(const char *folder, const char *limit_name, const char *used_name)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", folder, limit_name);
    const int64_t limit = read_number(path);
    snprintf(path, sizeof path, "%s/%s", folder, used_name);
    const int64_t used = read_number(path);
    if (limit < 0 || used < 0 || limit >= INT64_MAX / 2)
        return INT64_MAX;
    return used < limit ? limit - used : 0;
}

/* The group and each group around it may have a limit. `folder` ends in the group's path and is overwritten. */
static int64_t left_in_groups(char *folder, size_t root_length, bool unified)
{
    int64_t least = INT64_MAX;
    for (;;) {
        const int64_t left = unified ? left_in_group(folder, "memory.max", "memory.current")
                                     : left_in_group(folder, "memory.limit_in_bytes", "memory.usage_in_bytes");
        if (left < least)
            least = left;
        char *const slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < root_length)
            return least;
        *slash = '\0';
    }
}

static int64_t available_in_group(void)
{
    static const char unified_root[] = "/sys/fs/cgroup";
    static const char memory_root[] = "/sys/fs/cgroup/memory";
    char line[PATH_MAX];
    char folder[PATH_MAX + 64];
    int64_t least = INT64_MAX;
    FILE *const groups = fopen("/proc/self/cgroup", "r");
    if (!groups)
        return INT64_MAX;
    while (fgets(line, sizeof line, groups)) {
        line[strcspn(line, "\n")] = '\0';
        const bool unified = !strncmp(line, "0::/", 4);
        const char *const path = strrchr(line, ':');
        if (!path || (!unified && !strstr(line, ":memory:")))
            continue;
        const char *const root = unified ? unified_root : memory_root;
        snprintf(folder, sizeof folder, "%s%s", root, path + 1);
        const int64_t left = left_in_groups(folder, strlen(root), unified);
        if (left < least)
            least = left;
    }
    fclose(groups);
    return least;
}

int64_t memory_available_bytes(void)
{
    const int64_t machine = available_in_machine();
    const int64_t group = available_in_group();
    return machine < group ? machine : group;
}
