/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control_groups.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { FOLDER_SIZE = 2 * PATH_MAX, NUMBER_SIZE = 64 };

const struct control_group_files control_groups_of_system = {"/proc/self/cgroup", "/sys/fs/cgroup"};

int64_t control_group_number(const char *folder, const char *name)
{
    char path[FOLDER_SIZE];
    char text[NUMBER_SIZE] = "";
    int64_t number = -1;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "r");
    if (!file)
        return -1;
    if (fgets(text, sizeof text, file) && sscanf(text, "%" SCNd64, &number) != 1)
        number = strncmp(text, "max", 3) ? -1 : INT64_MAX;
    fclose(file);
    return number;
}

/* A line of the membership: "4:cpu,cpuacct:/docker/1f", or "0::/user.slice" in version 2. */
struct membership {
    const char *controllers;
    const char *path;
};

/* Cuts the line into its parts. Returns false if it has another form. */
static bool parse_line(char *line, struct membership *membership)
{
    line[strcspn(line, "\n")] = '\0';
    char *const controllers = strchr(line, ':');
    char *const path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path || path[1] != '/')
        return false;
    *controllers = *path = '\0';
    *membership = (struct membership){controllers + 1, path + 1};
    return true;
}

static bool has_controller(const char *controllers, const char *wanted)
{
    const size_t length = strlen(wanted);
    for (const char *at = controllers; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (!strncmp(at, wanted, length) && (at[length] == ',' || !at[length]))
            return true;
    }
    return false;
}

/* Visits the group and each group around it. `folder` ends in the group's path and is overwritten. */
static void visit_upwards(char *folder, size_t root_length, bool is_unified,
                          void (*visit)(void *arg, const char *folder, bool is_unified), void *arg)
{
    for (;;) {
        const size_t length = strlen(folder);
        if (length > root_length && folder[length - 1] == '/')
            folder[length - 1] = '\0';
        visit(arg, folder, is_unified);
        char *const slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < root_length)
            return;
        *slash = '\0';
    }
}

void control_groups_visit(const struct control_group_files *files, const char *controller,
                          void (*visit)(void *arg, const char *folder, bool is_unified), void *arg)
{
    char line[PATH_MAX];
    char folder[FOLDER_SIZE];
    struct membership of;
    FILE *const groups = fopen(files->membership, "r");
    if (!groups)
        return;
    while (fgets(line, sizeof line, groups)) {
        if (!parse_line(line, &of))
            continue;
        const bool is_unified = !*of.controllers;
        if (!is_unified && !has_controller(of.controllers, controller))
            continue;
        const int root_length = is_unified ? snprintf(folder, sizeof folder, "%s", files->root)
                                           : snprintf(folder, sizeof folder, "%s/%s", files->root, controller);
        if (root_length + (int)strlen(of.path) >= (int)sizeof folder)
            continue;
        strcat(folder, of.path);
        visit_upwards(folder, (size_t)root_length, is_unified, visit, arg);
    }
    fclose(groups);
}

static void lower_to_room(void *least, const char *folder, bool is_unified)
{
    (void)is_unified; /* both versions have these files */
    const int64_t most = control_group_number(folder, "pids.max");
    const int64_t now = control_group_number(folder, "pids.current");
    if (most >= 0 && now >= 0 && most < INT64_MAX && most - now < *(int64_t *)least)
        *(int64_t *)least = most > now ? most - now : 0;
}

int64_t control_groups_thread_room(const struct control_group_files *files)
{
    int64_t least = INT64_MAX;
    control_groups_visit(files, "pids", lower_to_room, &least);
    return least;
}
