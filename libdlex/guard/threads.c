/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The locks of C11. In glibc they are those of POSIX under other names and error codes. */
#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include "guard.h"

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "mtx_t is a pthread_mutex_t");
_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "cnd_t is a pthread_cond_t");

static int thread_result(int err)
{
    switch (err) {
    case 0: return thrd_success;
    case EBUSY: return thrd_busy;
    case ETIMEDOUT: return thrd_timedout;
    case ENOMEM: return thrd_nomem;
    default: return thrd_error;
    }
}

DLEX_API int mtx_lock(mtx_t *mutex)
{
    return thread_result(pthread_mutex_lock((pthread_mutex_t *)mutex));
}

DLEX_API int mtx_trylock(mtx_t *mutex)
{
    return thread_result(pthread_mutex_trylock((pthread_mutex_t *)mutex));
}

DLEX_API int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict time)
{
    return thread_result(pthread_mutex_timedlock((pthread_mutex_t *)mutex, time));
}

DLEX_API int mtx_unlock(mtx_t *mutex)
{
    return thread_result(pthread_mutex_unlock((pthread_mutex_t *)mutex));
}

DLEX_API int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
    return thread_result(pthread_cond_wait((pthread_cond_t *)cond, (pthread_mutex_t *)mutex));
}

DLEX_API int cnd_timedwait(cnd_t *restrict cond, mtx_t *restrict mutex,
                           const struct timespec *restrict time)
{
    return thread_result(pthread_cond_timedwait((pthread_cond_t *)cond, (pthread_mutex_t *)mutex,
                                                time));
}

DLEX_API int cnd_signal(cnd_t *cond)
{
    return thread_result(pthread_cond_signal((pthread_cond_t *)cond));
}

DLEX_API int cnd_broadcast(cnd_t *cond)
{
    return thread_result(pthread_cond_broadcast((pthread_cond_t *)cond));
}
