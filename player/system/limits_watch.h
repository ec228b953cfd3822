/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Follows the limits of CPU time while the program plays: quotas of control groups that change or begin to limit, another
 * control group, another affinity, CPUs that a cpuset takes away. The kernel does not announce these, so a thread of its own
 * looks four times a second. One look takes 20 to 70 us of CPU time, with 1 to 3 groups. No thread that decodes or presents looks:
 * the kernel lists a process's groups under a lock that others may hold for long.
 */
#ifndef PLAYER_LIMITS_WATCH_H
#define PLAYER_LIMITS_WATCH_H

#include "cpu_limits.h"

struct limits_watch;

/*
 * Starts the thread. The files' strings must stay valid. Returns 0 or a negative errno. limits_watch_destroy ends the thread,
 * accepts an empty pointer, and clears it.
 */
int limits_watch_create(struct limits_watch **out, const struct control_group_files *files);
void limits_watch_destroy(struct limits_watch **watch);

/* Looks at once, on the calling thread, and keeps what it saw. The threads must have taken their roles (thread_role.h). */
void limits_watch_look(struct limits_watch *watch);

/* Returns what was seen last, zero if nothing was. Any thread; blocks only while the other thread stores a few bytes. */
struct cpu_limits limits_watch_seen(struct limits_watch *watch);

#endif
