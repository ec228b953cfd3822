/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "manager_thread.h"

#include <sched.h>
#include <signal.h>

int manager_thread_start(pthread_t *thread, int priority, void *(*run)(void *), void *context)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    int error = pthread_attr_init(&attributes);
    if (error)
        return -error;
    if (priority) {
        pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
        pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
        pthread_attr_setschedparam(&attributes, &(struct sched_param){.sched_priority = priority});
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(thread, &attributes, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return -error;
}
