/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SCHED_MANAGER_THREAD_H
#define SCHED_MANAGER_THREAD_H

#include <pthread.h>

/*
 * Starts a thread with this SCHED_FIFO priority (0: the caller's policy). It blocks all signals, which are for the program's own
 * threads. Returns 0, -EPERM (priority) or -EAGAIN.
 */
int manager_thread_start(pthread_t *thread, int priority, void *(*run)(void *), void *context);

#endif
