/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shell commands that each have a process group of their own: the keys of a terminal reach their supervisor only, and what ends a
 * command also ends what it has started in the background. The number of a group is the process id of its shell; it cannot come
 * to mean another group as long as the supervisor has not waited for the shell.
 */
#ifndef SCHED_COMMAND_GROUP_H
#define SCHED_COMMAND_GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { COMMAND_GROUP_NOT_STARTED = 126 };

/*
 * In a new process: becomes the shell command, as the user who typed it and without capabilities (user_command.h). What it writes to
 * standard output goes to standard error, because standard output is the supervisor's. Its standard input is empty if it was a
 * terminal, because the kernel stops a group in the background that reads from its terminal. Signals are handled as usual, but for
 * SIGTTOU, which is ignored for a similar reason. If there is no shell, or if the rights cannot be given up, the process reports it and
 * ends with COMMAND_GROUP_NOT_STARTED.
 */
_Noreturn void command_group_become(const char *command);

/*
 * Waits until all processes of these groups (0: none) have ended, but not longer than the patience. The numbers of those that have
 * become 0. Returns true if all have.
 */
bool command_groups_wait(pid_t *groups, int count, int64_t patience_ns);

/* Ends all groups: by SIGTERM, then by SIGKILL, and waits a second after each. Not only the parent of the shells may call it. */
void command_groups_end(pid_t *groups, int count);

#endif
