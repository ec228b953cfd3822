/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The control groups that limit this process. Version 1 has a hierarchy for each controller, version 2 one for all. A
 * limit of a group applies to those inside it too. In a container the path of the group may lie outside of what is
 * mounted; then only the groups around it are found.
 */
#ifndef PLAYER_CONTROL_GROUPS_H
#define PLAYER_CONTROL_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

/* Where the kernel lists the groups. */
struct control_group_files {
    const char *membership; /* as /proc/self/cgroup */
    const char *root;       /* as /sys/fs/cgroup */
};

extern const struct control_group_files control_groups_of_system;

/*
 * Calls visit with the folder of each group that limits the process by this controller ("memory", "cpu"), from the
 * innermost one to the root. is_unified: the group is of version 2. The folder need not exist.
 */
void control_groups_visit(const struct control_group_files *files, const char *controller,
                          void (*visit)(void *arg, const char *folder, bool is_unified), void *arg);

/* Returns how many more threads the control groups let the program start; INT64_MAX: there is no limit. */
int64_t control_groups_thread_room(const struct control_group_files *files);

/* Reads the first number in a group's file. -1: there is none. "max", as version 2 writes it, is INT64_MAX. */
int64_t control_group_number(const char *folder, const char *name);

#endif
