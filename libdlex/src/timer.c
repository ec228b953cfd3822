/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One timer per thread: created when the thread first needs it, deleted when the thread ends (see
 * thread_end.c), lost in a forked child and created anew there.
 */
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "quiet.h"
#include "signals.h"

static int fork_error; /* error of the only pthread_atfork: without it a child would have no deadlines */

static void before_fork(void)
{
    dlex_target_before_fork();
    dlex_notify_before_fork();
    dlex_thread_state.fork_cpu_ns = dlex_cpu_ns();
}

static void in_parent(void)
{
    dlex_notify_in_parent();
    dlex_target_in_parent();
}

/* In the child the CPU time of the thread begins at zero. */
static void rebase_wcets(struct thread_state *t)
{
    for (struct dlex_block_ *b = dlex_guard_.top; b; b = b->outer) {
        if (dlex_is_wcet(b->how) && b->limit_ns != INT64_MAX)
            b->limit_ns -= t->fork_cpu_ns;
        if (b->cpu_limit_ns < DLEX_LOOK_)
            b->cpu_limit_ns -= t->fork_cpu_ns;
    }
    dlex_set_top(dlex_guard_.top);
}

/* The section that stands round fork (see the contract) checks the deadlines when it ends, and creates
 * the new timer; a violation must not be delivered here, inside fork. */
static void in_forked_child(void)
{
    struct thread_state *t = &dlex_thread_state;
    dlex_notify_in_child();
    dlex_target_in_child(&t->target);
    t->forks = t->forks + 1;
    t->has_timer = false;
    t->armed_ns = 0;
    rebase_wcets(t);
    if (dlex_guard_.top)
        dlex_guard_.pending = 1;
}

/* Registered early, so that before a fork the program's own handlers run before this one, which takes
 * the lock of the router: it may wait there for a thread that has its first timed block. */
__attribute__((constructor)) static void watch_forks(void)
{
    fork_error = -pthread_atfork(before_fork, in_parent, in_forked_child);
}

/* The end of the thread is watched first, so that no timer is created that nobody would delete. */
static int try_to_create(struct thread_state *t, dlex_signal_fn *on_signal)
{
    int err = fork_error;
    if (!err)
        err = dlex_signal_take(on_signal);
    if (!err)
        err = dlex_watch_thread_end(t);
    if (!err)
        err = dlex_notify_create(&t->notify);
    t->has_timer = !err;
    return err;
}

/* No handler may run: it could fork, and return in the child, where has_timer would then stand for the
 * timer of the parent. has_timer is looked at again: until then a handler may have created the timer. */
static int create_timer(struct thread_state *t, dlex_signal_fn *on_signal)
{
    struct quiet before;
    dlex_quiet_begin(&before);
    const int err = t->has_timer ? 0 : try_to_create(t, on_signal);
    dlex_quiet_end(&before);
    if (!err)
        dlex_signal_admit();
    return err;
}

void dlex_timer_drop(struct thread_state *t)
{
    if (t->has_timer)
        dlex_notify_destroy(&t->notify);
    t->has_timer = false;
    t->armed_ns = 0;
}

int dlex_timer_prepare(struct thread_state *t, dlex_signal_fn *on_signal)
{
    return t->has_timer ? 0 : create_timer(t, on_signal);
}

/* A handler of the program may fork in here and return in the child: then arming is repeated, with a
 * timer of the child. armed_ns is set first, since a fork clears it. */
int dlex_timer_arm(struct thread_state *t, int64_t deadline_ns, dlex_signal_fn *on_signal)
{
    unsigned forks;
    int err;
    do {
        forks = t->forks;
        t->armed_ns = deadline_ns;
        err = dlex_timer_prepare(t, on_signal);
        if (!err)
            err = dlex_notify_arm(&t->notify, deadline_ns);
    } while (forks != t->forks);
    if (err)
        t->armed_ns = 0;
    return err;
}
