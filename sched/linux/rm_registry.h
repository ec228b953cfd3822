/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which programs of this user run under rate-monotonic priorities (seed 004, section 3.1), so that a newcomer finds its level
 * among them: a higher rate has a higher one. What is decided is in rm_levels.h and response_time.h; here is where it is kept
 * and carried out.
 *
 * The registry is a file in the user's own folder in memory (own_folder.h). It is changed under a lock that the kernel releases
 * when its holder dies, and replaced as a whole, so that a member that is killed at any moment leaves either the old or the new
 * table. (The seed's table would be in shared memory under a mutex; a mutex that other processes can write to is nothing that a
 * program with more rights may trust.) Members are known by process id and start time. Those that have ended are removed with
 * every change; nobody has to leave. What the file says is checked.
 *
 * If a newcomer moves a member, the table has the member's level before as well, until all its threads have the new one; the
 * next newcomer finishes what one that was killed has left. Only threads that have exactly the level before are moved: one that
 * has chosen another priority by itself keeps that, also one of these bands.
 *
 *     struct rm_joined joined;
 *     const struct rm_task task = {.kind = RM_STATISTICAL, .period_ns = 40000000, .deadline_ns = 40000000, .cost_mean_ns = 8000000};
 *     if (rm_registry_join(&task, "mpv", &joined) == 0)
 *         ... set SCHED_FIFO with the priority joined.level, for this process, and again while rm_registry_level() differs ...
 */
#ifndef SCHED_RM_REGISTRY_H
#define SCHED_RM_REGISTRY_H

#include "response_time.h"
#include "rm_levels.h"
#include "thread_list.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { RM_MEMBERS_MAX = 64 };

struct rm_member {
    pid_t process;
    uint64_t started_ticks; /* of process_start.h */
    int level_before;       /* which some of its threads may still have; 0: all are moved */
    char name[THREAD_NAME_SIZE];
};

/* task[i] belongs to member[i]. */
struct rm_registry {
    struct rm_member members[RM_MEMBERS_MAX];
    struct rm_task tasks[RM_MEMBERS_MAX];
    int count;
};

/* What became of a newcomer, or of a member that has changed. */
struct rm_joined {
    int level;                  /* the priority for SCHED_FIFO */
    int moved;                  /* members whose priority has changed because of it */
    bool has_merged;            /* it shares a level with another rate, because all levels are in use */
    enum response_time_test by; /* why it was admitted or refused */
    struct rm_member late;      /* refused with RESPONSE_TOO_LATE: the member that would miss its deadlines; it may be the newcomer */
    int64_t late_response_ns;   /* and how long it would take at least */
    int64_t late_deadline_ns;
};

/*
 * Adds the calling process, with this name, and moves others if need be. It stays until it ends, also through exec. Returns 0;
 * -EBUSY (refused, joined->by says why); -ENOSPC (RM_MEMBERS_MAX are there); -EALREADY (it is a member); -EINVAL (the task's
 * values are out of range, see rm_task.h); -ETIMEDOUT (somebody has held the lock for two seconds); -EREMOTE (/proc shows another PID
 * namespace, in which the caller's id is that of a stranger, which would stay in the list); or a negative errno of a file. Only 0 changes anything, except that it may finish what an earlier newcomer has begun.
 */
int rm_registry_join(const struct rm_task *task, const char *name, struct rm_joined *joined);

/*
 * Changes the calling process, which is a member: what it costs, its rate or its class. Only another rate or class may give it another
 * level, and then also others. The caller gives its own threads that level, as after rm_registry_join. A guaranteed task is admitted as a
 * newcomer is. A statistical one runs already, so it is never refused: joined->by is RESPONSE_TOO_MUCH if all together now need more than
 * the CPU. If another program has the lock, it waits for up to two seconds (waits), or for nothing.
 *
 * Returns 0; -EBUSY (refused, joined->by says why); -ESRCH (it is not a member); -EAGAIN (another program has the lock, and it does not
 * wait); or what else rm_registry_join returns. Only 0 changes anything, with the same exception.
 */
int rm_registry_update(const struct rm_task *task, bool waits, struct rm_joined *joined);

/*
 * Returns the level of the calling process, or a negative errno (-ESRCH: it is not a member). After it has set its priority, a process
 * must ask whether this still is its level: a newcomer may have moved it before, and only moves what has a priority already.
 */
int rm_registry_level(void);

/* Reads the members that live, or of which that cannot be found out at the moment. Returns 0 or a negative errno. */
int rm_registry_read(struct rm_registry *registry);

#endif
