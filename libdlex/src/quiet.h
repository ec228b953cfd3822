/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * quiet.h: a stretch of code in which no other code runs in the calling thread. Blocks all signals: a
 * handler of the program could wait for the lock that its own thread holds, open its first block, fork
 * or fire. libc lets no one block the signal of cancellation, which comes at any instruction of a
 * handler that interrupts a call that sleeps; so cancellation is held too.
 */
#ifndef DLEX_QUIET_H
#define DLEX_QUIET_H

#include "cancellation.h"

#include <pthread.h>
#include <signal.h>

/* What was in force before. */
struct quiet {
    sigset_t mask;
    struct cancellation cancellation;
};

static inline void dlex_quiet_begin(struct quiet *before)
{
    sigset_t all;
    sigfillset(&all);
    dlex_cancellation_hold(&before->cancellation);
    pthread_sigmask(SIG_BLOCK, &all, &before->mask);
}

/* Signals that came meanwhile are handled in here. Does not set the mask from before: libc would take its
 * own signals out of it, which shows that libc's handlers are running (dlex_is_in_libc_handler). */
static inline void dlex_quiet_end(const struct quiet *before)
{
    sigset_t blocked;
    sigfillset(&blocked);
    for (int signo = 1; signo <= SIGRTMAX; signo++)
        if (sigismember(&before->mask, signo))
            sigdelset(&blocked, signo);
    pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
    dlex_cancellation_allow(&before->cancellation);
}

#endif
