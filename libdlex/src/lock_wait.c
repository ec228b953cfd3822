/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Locks: waiting for one is interruptible, but taking it is not. A jump must not leave
 * pthread_mutex_lock, because the thread may hold the mutex already; but the thread must not stay there
 * beyond its deadline either. So it waits in a protected section, but only until the deadline, and
 * leaves the section there.
 */
#include <errno.h>
#include <pthread.h>

#include <dlex/scoped.h>

#include "thread.h"

/* A WCET cannot run out in a wait, but its signal may come between the last look at it and the wait.
 * Then it stays unnoticed for this long. So does a trigger that is fired during the wait. */
enum { LOOK_AGAIN_NS = 10 * 1000 * 1000 };

int64_t dlex_wait_limit_(void)
{
    const struct dlex_block_ *const top = dlex_guard_.top;
    if (!top || dlex_guard_.depth > 1 || dlex_guard_.held > 0)
        return INT64_MAX;
    int64_t limit_ns = top->cpu_limit_ns == INT64_MAX ? INT64_MAX : dlex_now_ns() + LOOK_AGAIN_NS;
    for (const struct dlex_block_ *b = top; b; b = b->outer) {
        if (!dlex_is_wcet(b->how) && b->limit_ns < limit_ns)
            limit_ns = b->limit_ns;
        if (dlex_fired_ns(b))
            limit_ns = 0;
        if (b == top->floor)
            break;
    }
    return limit_ns;
}

/* The signal of the deadline may still be on its way: pending makes enable look at the clock. */
void dlex_wait_pause_(void)
{
    dlex_note_pending(&dlex_thread_state, dlex_now_ns());
    dlex_try_within_enable();
    dlex_try_within_disable();
}

/* A time so far away that its nanoseconds do not fit means never. */
int64_t dlex_time_left_ns_(const struct timespec *time, const struct timespec *now)
{
    int64_t seconds, ns;
    if (__builtin_sub_overflow(time->tv_sec, now->tv_sec, &seconds)
        || __builtin_mul_overflow(seconds, INT64_C(1000000000), &ns)
        || __builtin_add_overflow(ns, time->tv_nsec - now->tv_nsec, &ns))
        return time->tv_sec < now->tv_sec ? INT64_MIN / 2 : INT64_MAX;
    return ns;
}

static int64_t left_ns(clockid_t clock, const struct timespec *time)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return dlex_time_left_ns_(time, &now);
}

static struct timespec timespec_of(int64_t ns)
{
    if (ns < 0)
        ns = 0;
    return (struct timespec){ .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
}

int dlex_wait_for_lock_(const struct dlex_lock_kind_ *kind, void *lock, clockid_t clock,
                        const struct timespec *time)
{
    for (;;) {
        const int64_t limit_ns = dlex_wait_limit_();
        if (time && (limit_ns == INT64_MAX || left_ns(clock, time) <= limit_ns - dlex_now_ns()))
            return kind->until(lock, clock, time);
        if (limit_ns == INT64_MAX)
            return kind->in_time(lock);
        const struct timespec limit = timespec_of(limit_ns);
        const int err = kind->until(lock, CLOCK_MONOTONIC, &limit);
        if (err == EINVAL) /* a priority-inheritance mutex before Linux 5.14 */
            return time ? kind->until(lock, clock, time) : kind->in_time(lock);
        if (err != ETIMEDOUT)
            return err;
        dlex_wait_pause_();
    }
}

static int mutex_in_time(void *mutex)
{
    return pthread_mutex_lock(mutex);
}

#ifndef NO_MUTEX_CLOCKLOCK
static int mutex_until(void *mutex, clockid_t clock, const struct timespec *time)
{
    return pthread_mutex_clocklock(mutex, clock, time);
}
#else
static struct timespec realtime_in(int64_t ns)
{
    struct timespec now;
    int64_t sum_ns;
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    return timespec_of(__builtin_add_overflow(now_ns, ns, &sum_ns) ? INT64_MAX : sum_ns);
}

/* The other clock may be set meanwhile. If it is set forward, the wait is repeated; if it is set back, the wait
 * may last longer by as much. */
static int mutex_until(void *mutex, clockid_t clock, const struct timespec *time)
{
    int err;
    do {
        const struct timespec limit = realtime_in(left_ns(clock, time));
        err = pthread_mutex_timedlock(mutex, &limit);
    } while (err == ETIMEDOUT && left_ns(clock, time) > 0);
    return err;
}
#endif

static const struct dlex_lock_kind_ mutex_kind = { mutex_in_time, mutex_until };

static void unlock(void *mutex)
{
    pthread_mutex_unlock(mutex);
}

int dlex_scoped_mutex_lock(pthread_mutex_t *mutex)
{
    dlex_try_within_disable();
    int err = pthread_mutex_trylock(mutex);
    if (err == EBUSY)
        err = dlex_wait_for_lock_(&mutex_kind, mutex, CLOCK_MONOTONIC, NULL);
    if ((err == 0 || err == EOWNERDEAD) && dlex_scoped_defer(unlock, mutex) < 0) {
        pthread_mutex_unlock(mutex);
        err = ENOMEM;
    }
    dlex_try_within_enable();
    return err;
}

int dlex_scoped_mutex_unlock(pthread_mutex_t *mutex)
{
    dlex_try_within_disable();
    dlex_scoped_forget(unlock, mutex);
    const int err = pthread_mutex_unlock(mutex);
    dlex_try_within_enable();
    return err;
}
