/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PMan's shared memory: a file in /dev/shm that appears complete or not at all. It has two copies of the table: a call changes
 * the one that is not current and then makes it current by a single store. So a program that is killed leaves the table as it
 * was or as it shall be.
 */
#ifndef SCHED_PMAN_SHARED_H
#define SCHED_PMAN_SHARED_H

#include "pman_log.h"
#include "pman_table.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { PMAN_SHARED_VERSION = 1 };

/*
 * What a process of the table and those who activate it exchange, by the index of the process. Words are atomic. Under the lock
 * unless it says otherwise.
 */
struct pman_slot {
    uint32_t bell;         /* a futex; it changes when the process has to look at its slot */
    uint32_t released;     /* number of the last instance that was released; numbers are those of pman_process, modulo 2^32 */
    uint32_t taken;        /* of the last one that the process has begun; the process writes it without the lock */
    uint32_t delivered;    /* of the last one of which it was notified; without the lock for PMAN_BY_FUTEX */
    int32_t pid;           /* as in the table; the process reads it without the lock */
    int32_t how;           /* enum pman_activation; those who wake read it without the lock */
    uint32_t has_waited;   /* the process has called pman_wait since it was attached; it writes this without the lock */
    uint32_t padding;
    uint64_t registration; /* as in the table: tells this entry from a later one at the same index */
    uint64_t start;        /* of the process with this pid; see process_start.h */
    /*
     * When the process began its last instance; 0: never. If it waits, it writes this without the lock, before `taken`. For others,
     * who signals writes it.
     */
    int64_t started_ns;
    int64_t padding_2;
} __attribute__((aligned(64)));

struct pman_shared {
    uint32_t magic; /* the last field that is written, before the file gets its name */
    uint32_t version;
    uint64_t size;
    pthread_mutex_t lock;     /* robust, with priority inheritance; guards all that is not said to be otherwise */
    pthread_mutex_t managing; /* robust; the manager holds it for its life */
    uint32_t is_closed;       /* atomic */
    uint32_t current;         /* atomic: index of the table */
    uint32_t recoveries;      /* how often the owner of the lock was dead */
    uint32_t pids;            /* changes with each pid */
    uint32_t manager_bell;    /* a futex; it changes when the manager has to look at the table */
    int32_t manager_pid;      /* of the last manager, for people */
    int64_t manager_until_ns; /* atomic: how long the manager sleeps; 0: it is awake */
    int64_t last_tick_ns;     /* time of the last tick */
    int64_t lost_ticks;       /* of a timer: left out because the manager was too late */
    struct pman_table table[2];
    struct pman_slot slot[PMAN_CAPACITY];
    struct pman_log log;
};

struct pman {
    struct pman_shared *shared;
    char name[PMAN_NAME_SIZE];
};

/* Makes the shared memory. Errors as of pman_init. */
int pman_shared_create(struct pman_shared **shared, const char *name, const struct pman_table_options *options);

/* Maps it. Errors as of pman_open; -ESHUTDOWN: the table with this name was closed. */
int pman_shared_open(struct pman_shared **shared, const char *name);

void pman_shared_unmap(struct pman_shared *shared);

/* Frees the name of a table that is closed. */
void pman_shared_unlink(const char *name);

/*
 * Locks. If the last owner of the lock was killed, *was_dead is true, and the caller brings the slots up to date. Returns 0, or
 * -ESHUTDOWN without the lock.
 */
int pman_shared_lock(struct pman_shared *shared, bool *was_dead);
void pman_shared_unlock(struct pman_shared *shared);

/* The table. Under the lock. */
static inline struct pman_table *pman_shared_table(struct pman_shared *shared)
{
    return &shared->table[__atomic_load_n(&shared->current, __ATOMIC_RELAXED)];
}

/* Ticks so far, without the lock: perhaps one less. */
static inline int64_t pman_shared_ticks(const struct pman_shared *shared)
{
    return __atomic_load_n(&shared->table[__atomic_load_n(&shared->current, __ATOMIC_ACQUIRE)].ticks, __ATOMIC_RELAXED);
}

/* Without the lock. The table says it first; the word also ends those that wait, and stays when the table is copied. */
static inline bool pman_shared_is_closed(const struct pman_shared *shared)
{
    const uint32_t current = __atomic_load_n(&shared->current, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&shared->is_closed, __ATOMIC_ACQUIRE) ||
           __atomic_load_n(&shared->table[current].is_closed, __ATOMIC_RELAXED);
}

/* CLOCK_MONOTONIC. */
int64_t pman_now_ns(void);

#endif
