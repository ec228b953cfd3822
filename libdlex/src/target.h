/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * target.h: the threads that triggers may signal. A thread enters the list when it first binds a
 * trigger, and leaves it before it ends. A trigger stores a number and not a pointer, because a thread
 * may end with a block open, whose record and whose trigger may be gone. Numbers are never used again,
 * so an old number reaches no thread.
 */
#ifndef DLEX_TARGET_H
#define DLEX_TARGET_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <dlex/trigger.h>

/* Belongs to one thread and lies in static thread-local memory. */
struct target {
    uint64_t number; /* 0: not in the list; only its own thread changes it */
    pthread_t thread;
    struct target *next; /* guarded by the lock of target.c */
    unsigned bound; /* number of open blocks that are bound and need the signal; atomic */
};

/* Both for the calling thread; nothing happens when it is in the list already, or not. leave is called
 * where no handler can run. */
void dlex_target_enter(struct target *target);
void dlex_target_leave(struct target *target);
/* Whether there is a thread of this number and it has a block that is bound to some trigger. */
bool dlex_target_is_bound(uint64_t number);
/* When this returns, no signal is on its way from a trigger that is no longer bound. */
void dlex_target_flush(const struct target *target);
/* Marks the trigger as fired and signals its thread, if there is one. Returns 0 or -EAGAIN. Safe in
 * signal handlers. */
int dlex_target_fire(struct dlex_trigger *trigger);

/* Handlers for pthread_atfork. In the child only the calling thread stays in the list. */
void dlex_target_before_fork(void);
void dlex_target_in_parent(void);
void dlex_target_in_child(struct target *own);

#endif
