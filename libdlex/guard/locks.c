/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Locks that a thread owns. Each is counted from when it is taken to when it is released, with a block
 * open or not, and no violation is delivered while a thread has one. Waiting for the first of them ends
 * at the deadline of an open block. Waiting for a second one does not, since the violation could not be
 * delivered anyway.
 */
#include <errno.h>
#include <pthread.h>

#include "guard.h"
#include "locks.h"

/* Ends the section in which a lock was taken, or not. */
static inline int taken(int err)
{
    if (err == 0 || err == EOWNERDEAD)
        dlex_guard_.held = dlex_guard_.held + 1;
    dlex_try_within_enable();
    return err;
}

/* Ends the section in which a lock was released. If a program releases a lock that another thread has
 * taken, which POSIX forbids, that other thread stays uninterruptible; no count falls below zero. */
static inline int released(int err)
{
    if (err == 0 && dlex_guard_.held > 0)
        dlex_guard_.held = dlex_guard_.held - 1;
    dlex_try_within_enable();
    return err;
}

/* name: of a lock of this type; how: as in pthread_mutex_lock and pthread_mutex_timedlock. */
#define GUARDED_WAITS(type, name, at_once, how)                                                 \
    GUARD_SYMBOL(pthread_##name##_##at_once)                                                    \
    GUARD_SYMBOL(pthread_##name##_##how)                                                        \
    GUARD_SYMBOL(pthread_##name##_clock##how)                                                   \
                                                                                                \
    static int name##_##how##_in_time(void *lock)                                               \
    {                                                                                           \
        return NEXT(pthread_##name##_##how)(lock);                                              \
    }                                                                                           \
                                                                                                \
    static int name##_##how##_until(void *lock, clockid_t clock, const struct timespec *time)   \
    {                                                                                           \
        return NEXT(pthread_##name##_clock##how)(lock, clock, time);                            \
    }                                                                                           \
                                                                                                \
    static const struct dlex_lock_kind_ name##_##how##_kind = { name##_##how##_in_time,         \
                                                                name##_##how##_until };         \
                                                                                                \
    DLEX_API int pthread_##name##_##at_once(type *lock)                                         \
    {                                                                                           \
        dlex_try_within_disable();                                                              \
        return taken(NEXT(pthread_##name##_##at_once)(lock));                                   \
    }                                                                                           \
                                                                                                \
    DLEX_API int pthread_##name##_##how(type *lock)                                             \
    {                                                                                           \
        dlex_try_within_disable();                                                              \
        int err = NEXT(pthread_##name##_##at_once)(lock);                                       \
        if (err == EBUSY)                                                                       \
            err = dlex_wait_for_lock_(&name##_##how##_kind, lock, CLOCK_REALTIME, NULL);        \
        return taken(err);                                                                      \
    }                                                                                           \
                                                                                                \
    DLEX_API int pthread_##name##_clock##how(type *restrict lock, clockid_t clock,              \
                                             const struct timespec *restrict time)              \
    {                                                                                           \
        dlex_try_within_disable();                                                              \
        return taken(dlex_wait_for_lock_(&name##_##how##_kind, lock, clock, time));             \
    }                                                                                           \
                                                                                                \
    DLEX_API int pthread_##name##_timed##how(type *restrict lock,                               \
                                             const struct timespec *restrict time)              \
    {                                                                                           \
        dlex_try_within_disable();                                                              \
        return taken(dlex_wait_for_lock_(&name##_##how##_kind, lock, CLOCK_REALTIME, time));    \
    }

GUARDED_WAITS(pthread_mutex_t, mutex, trylock, lock)
GUARDED_WAITS(pthread_rwlock_t, rwlock, tryrdlock, rdlock)
GUARDED_WAITS(pthread_rwlock_t, rwlock, trywrlock, wrlock)

#define GUARDED_RELEASE(type, fn)                                                               \
    GUARD_SYMBOL(fn)                                                                            \
    DLEX_API int fn(type *lock)                                                                 \
    {                                                                                           \
        dlex_try_within_disable();                                                              \
        return released(NEXT(fn)(lock));                                                        \
    }

GUARDED_RELEASE(pthread_mutex_t, pthread_mutex_unlock)
GUARDED_RELEASE(pthread_rwlock_t, pthread_rwlock_unlock)
GUARDED_RELEASE(pthread_spinlock_t, pthread_spin_unlock)

GUARD_SYMBOL(pthread_spin_trylock)

DLEX_API int pthread_spin_trylock(pthread_spinlock_t *lock)
{
    dlex_try_within_disable();
    return taken(NEXT(pthread_spin_trylock)(lock));
}

/* The section is left between two tries, so that the wait is as interruptible as any loop. */
DLEX_API int pthread_spin_lock(pthread_spinlock_t *lock)
{
    int err;
    do {
        dlex_try_within_disable();
        err = taken(NEXT(pthread_spin_trylock)(lock));
    } while (err == EBUSY);
    return err;
}

void guard_put_down(pthread_mutex_t *mutex)
{
    NEXT(pthread_mutex_unlock)(mutex);
    dlex_guard_.held = dlex_guard_.held - 1;
}

void guard_pick_up(pthread_mutex_t *mutex)
{
    dlex_wait_for_lock_(&mutex_lock_kind, mutex, CLOCK_REALTIME, NULL);
    dlex_guard_.held = dlex_guard_.held + 1;
}
