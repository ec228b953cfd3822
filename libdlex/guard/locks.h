/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* locks.h: what condition variables need of mutexes that are counted. */
#ifndef DLEX_GUARD_LOCKS_H
#define DLEX_GUARD_LOCKS_H

#include <pthread.h>

/* In a section of the caller's, with the mutex held: releases it, and is no longer counted. */
void guard_put_down(pthread_mutex_t *mutex);
/* In a section of the caller's: takes the mutex again, waiting for it interruptibly. */
void guard_pick_up(pthread_mutex_t *mutex);

#endif
