/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One timer a thread: created when the thread first needs it, deleted when the thread ends, lost
 * in a forked child and made anew there.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "thread.h"

#ifndef sigev_notify_thread_id /* older glibc names only the field */
#define sigev_notify_thread_id _sigev_un._tid
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t thread_end;
static int process_error;

int64_t dlex_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void on_thread_end(void *state)
{
    struct thread_state *t = state;
    dlex_try_within_disable();
    t->top = NULL;
    t->level = 0;
    t->armed_ns = 0;
    if (t->has_timer)
        timer_delete(t->timer);
    t->has_timer = false;
    dlex_guard_.pending = 0;
    dlex_guard_.depth = 0;
}

/* The section that stands round fork (see the contract) looks at the deadlines when it ends, and
 * makes the new timer; a violation must not be delivered here, inside fork. */
static void in_forked_child(void)
{
    struct thread_state *t = &dlex_thread_state;
    t->has_timer = false;
    t->armed_ns = 0;
    if (t->top)
        dlex_guard_.pending = 1;
}

static int take_signal(void)
{
    struct sigaction old;
    if (sigaction(DLEX_SIGNAL, NULL, &old) < 0)
        return -errno;
    if ((old.sa_flags & SA_SIGINFO) || old.sa_handler != SIG_DFL)
        return -EBUSY;
    /* SA_NODEFER: a jump out of the handler leaves the signal unblocked. */
    struct sigaction action = { .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART };
    action.sa_sigaction = dlex_on_signal;
    sigemptyset(&action.sa_mask);
    return sigaction(DLEX_SIGNAL, &action, NULL) < 0 ? -errno : 0;
}

static void init_process(void)
{
    process_error = -pthread_key_create(&thread_end, on_thread_end);
    if (!process_error)
        process_error = -pthread_atfork(NULL, NULL, in_forked_child);
    if (!process_error)
        process_error = take_signal();
}

static int create_timer(struct thread_state *t)
{
    pthread_once(&once, init_process);
    if (process_error)
        return process_error;
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = DLEX_SIGNAL };
    event.sigev_notify_thread_id = gettid();
    if (timer_create(CLOCK_MONOTONIC, &event, &t->timer) < 0)
        return -errno;
    int err = -pthread_setspecific(thread_end, t);
    if (err) {
        timer_delete(t->timer);
        return err;
    }
    t->has_timer = true;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, DLEX_SIGNAL);
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    return 0;
}

static int set_timer(struct thread_state *t, int64_t expiry_ns)
{
    const struct itimerspec spec = { .it_value = { .tv_sec = expiry_ns / 1000000000,
                                                   .tv_nsec = expiry_ns % 1000000000 } };
    return timer_settime(t->timer, TIMER_ABSTIME, &spec, NULL) < 0 ? -errno : 0;
}

int dlex_timer_arm(struct thread_state *t, int64_t deadline_ns)
{
    int err = t->has_timer ? 0 : create_timer(t);
    if (!err)
        err = set_timer(t, deadline_ns);
    t->armed_ns = err ? 0 : deadline_ns;
    return err;
}

int dlex_thread_init(void)
{
    struct thread_state *t = &dlex_thread_state;
    dlex_try_within_disable();
    const int err = t->has_timer ? 0 : create_timer(t);
    dlex_try_within_enable();
    return err;
}

void dlex_idle(void)
{
    struct thread_state *t = &dlex_thread_state;
    dlex_try_within_disable();
    if (t->has_timer && t->armed_ns) {
        t->armed_ns = 0;
        dlex_rearm(t, dlex_now_ns());
        if (!t->armed_ns)
            set_timer(t, 0);
    }
    dlex_try_within_enable();
}
