/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * notify.h: how one thread is sent the library's signal at a time of CLOCK_MONOTONIC, never earlier.
 * Two files implement this, and the build takes one of them (Meson's option notification):
 *
 *   notify_linux.c   a kernel timer for each thread, which signals that thread (SIGEV_THREAD_ID)
 *   notify_posix.c   one more thread in the process, the router, which waits for the earliest
 *                    expiry and signals the thread concerned; uses no call that only Linux has
 *
 * With either, a signal may arrive although its expiry was replaced or withdrawn in the meantime; the
 * receiver checks the clock (see thread.h). A notify belongs to one thread. Only that thread calls the
 * functions on it, with dlex_guard_.depth above zero. It lies in static thread-local memory.
 */
#ifndef DLEX_NOTIFY_H
#define DLEX_NOTIFY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct notify {
    /* Linux */
    timer_t timer;
    timer_t running_timer; /* of CPU time; only if has_running_timer */
    bool has_running_timer;
    /* POSIX; all but expiry_ns guarded by the lock of notify_posix.c */
    pthread_t thread;
    struct notify *next;
    _Atomic int64_t expiry_ns; /* INT64_MAX: none; the thread sets it, the router clears it */
};

/* Creates the notify of the calling thread; dlex_signal_take must have succeeded. Returns 0, or a
 * negative errno value and nothing is left: -EAGAIN, -ENOMEM, and with POSIX any error of
 * pthread_create. Not in a signal handler. */
int dlex_notify_create(struct notify *n);
/* Call it before the thread ends. Afterwards no signal is sent to the thread any more. */
void dlex_notify_destroy(struct notify *n);

/* Replaces the expiry; INT64_MAX: none. A time in the past means at once. Returns 0 or a negative
 * errno value. Safe in the signal handler. */
int dlex_notify_arm(struct notify *n, int64_t expiry_ns);
/* When this returns, a signal of an expiry that was replaced before has arrived or will never come. Not
 * in a signal handler. */
void dlex_notify_flush(struct notify *n);

/* These make it possible to leave a thread alone that sleeps in a WCET block. Where they are not
 * available (POSIX) the thread is woken for each look.
 * prepare: not in a signal handler; does nothing when it was done before.
 * when_running: signals the thread once, at a tick of the kernel at which the thread runs; 0 or a
 * negative errno value; safe in the signal handler.
 * switches: how often the calling thread has gone to sleep so far. */
void dlex_notify_prepare_running(struct notify *n);
int dlex_notify_when_running(struct notify *n);
long dlex_notify_switches(void);

/* Handlers for pthread_atfork. In the child all notifies are gone, including that of the caller, which
 * may be created anew. */
void dlex_notify_before_fork(void);
void dlex_notify_in_parent(void);
void dlex_notify_in_child(void);

#endif
