/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cancellation.h: a stretch of code in which the calling thread is not cancelled. Disabling cancellation is not enough: in a call
 * that sleeps, and in a handler that has interrupted one, glibc before 2.41 cancels by a signal, and its handler looks at the type
 * only. Sent just before cancellation was disabled, this signal would still end the thread here. Async-signal-safe.
 */
#ifndef DLEX_CANCELLATION_H
#define DLEX_CANCELLATION_H

#include <pthread.h>

/* What was in force before. */
struct cancellation {
    int state, type;
};

static inline void dlex_cancellation_hold(struct cancellation *before)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before->state);
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before->type);
}

/* A cancellation that came meanwhile comes in here if the type was asynchronous. */
static inline void dlex_cancellation_allow(const struct cancellation *before)
{
    pthread_setcancelstate(before->state, NULL);
    pthread_setcanceltype(before->type, NULL);
}

#endif
