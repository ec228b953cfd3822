/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Waiting on a condition variable is a good place to be interrupted: the mutex is released there, so
 * the data that it guards is consistent. The wait ends at the deadline of an open block. Then libc
 * takes the mutex again (which lasts as long as others hold it), this library releases it, and the
 * violation is delivered without it. This never loses a wake-up: a thread that was woken has not timed
 * out. A thread that holds a second lock is not interruptible, and waits as it would without this
 * library.
 */
#include <errno.h>
#include <pthread.h>

#include "guard.h"
#include "locks.h"

GUARD_SYMBOL(pthread_cond_wait)
GUARD_SYMBOL(pthread_cond_timedwait)
GUARD_SYMBOL(pthread_cond_clockwait)

/* The caller's own time-out, on the given clock or on that of the condition variable. */
struct time_out {
    const struct timespec *time; /* NULL: none */
    clockid_t clock;
    bool clock_is_given;
};

static int plain_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct time_out *out)
{
    if (!out->time)
        return NEXT(pthread_cond_wait)(cond, mutex);
    if (!out->clock_is_given)
        return NEXT(pthread_cond_timedwait)(cond, mutex, out->time);
    return NEXT(pthread_cond_clockwait)(cond, mutex, out->clock, out->time);
}

/* glibc keeps the clock of the attribute in a flag of its record, and has no call that returns it. */
static clockid_t clock_of(const pthread_cond_t *cond)
{
    return cond->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

static bool ends_before(const struct time_out *out, int64_t limit_ns)
{
    if (!out->time)
        return false;
    struct timespec now;
    clock_gettime(out->clock, &now);
    return dlex_time_left_ns_(out->time, &now) <= limit_ns - dlex_now_ns();
}

/* Does what dlex_wait_limit_ does, but does not count the mutex that the wait itself releases. */
static int64_t limit_of_wait(void)
{
    if (dlex_guard_.held != 1)
        return INT64_MAX;
    dlex_guard_.held = 0;
    const int64_t limit_ns = dlex_wait_limit_();
    dlex_guard_.held = 1;
    return limit_ns;
}

/* If the violation is not delivered after all, this was a spurious wake-up, which callers must expect. */
static int wait_in_section(pthread_cond_t *cond, pthread_mutex_t *mutex,
                           const struct time_out *out)
{
    const int64_t limit_ns = limit_of_wait();
    if (limit_ns == INT64_MAX || ends_before(out, limit_ns))
        return plain_wait(cond, mutex, out);
    const struct timespec limit = { .tv_sec = limit_ns / 1000000000,
                                    .tv_nsec = limit_ns % 1000000000 };
    const int err = NEXT(pthread_cond_clockwait)(cond, mutex, CLOCK_MONOTONIC, &limit);
    if (err != ETIMEDOUT)
        return err;
    guard_put_down(mutex);
    dlex_wait_pause_();
    guard_pick_up(mutex);
    return 0;
}

static int guarded_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct time_out *out)
{
    dlex_try_within_disable();
    const int err = wait_in_section(cond, mutex, out);
    dlex_try_within_enable();
    return err;
}

DLEX_API int pthread_cond_wait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex)
{
    return guarded_wait(cond, mutex, &(struct time_out){ .time = NULL });
}

DLEX_API int pthread_cond_timedwait(pthread_cond_t *restrict cond,
                                    pthread_mutex_t *restrict mutex,
                                    const struct timespec *restrict time)
{
    const struct time_out out = { .time = time, .clock = clock_of(cond) };
    return guarded_wait(cond, mutex, &out);
}

DLEX_API int pthread_cond_clockwait(pthread_cond_t *restrict cond,
                                    pthread_mutex_t *restrict mutex, clockid_t clock,
                                    const struct timespec *restrict time)
{
    const struct time_out out = { .time = time, .clock = clock, .clock_is_given = true };
    return guarded_wait(cond, mutex, &out);
}

/* These take a lock inside the condition variable. If one were interrupted there, all who use the
 * condition variable next would wait for that lock. */
GUARDED(int, pthread_cond_signal, (pthread_cond_t *cond), (cond))
GUARDED(int, pthread_cond_broadcast, (pthread_cond_t *cond), (cond))
