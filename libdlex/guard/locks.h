/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* locks.h: what condition variables need from counted mutexes. */
#ifndef DLEX_GUARD_LOCKS_H
#define DLEX_GUARD_LOCKS_H

#include <pthread.h>

/* In a section of the caller's, with the mutex held: releases the mutex and stops counting it. */
void guard_put_down(pthread_mutex_t *mutex);
/* In a section of the caller's: takes the mutex again, waiting for it interruptibly. */
void guard_pick_up(pthread_mutex_t *mutex);

#endif
