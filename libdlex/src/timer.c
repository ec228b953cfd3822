/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One timer a thread: created when the thread first needs it, deleted when the thread ends, lost
 * in a forked child and made anew there.
 */
#include <pthread.h>
#include <time.h>

#include "signals.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t thread_end;
static int process_error;

int64_t dlex_now_ns(void)
{
    return dlex_clock_ns_();
}

static void on_thread_end(void *state)
{
    struct thread_state *t = state;
    dlex_try_within_disable();
    dlex_scoped_end_(t);
    dlex_set_top(NULL);
    t->level = 0;
    t->armed_ns = 0;
    if (t->has_timer)
        dlex_notify_destroy(&t->notify);
    t->has_timer = false;
    dlex_guard_.pending = 0;
    dlex_guard_.depth = 0;
}

static void before_fork(void)
{
    dlex_notify_before_fork();
    dlex_thread_state.fork_cpu_ns = dlex_cpu_ns();
}

/* In the child the CPU time of the thread begins at zero. */
static void rebase_wcets(struct thread_state *t)
{
    for (struct dlex_block_ *b = dlex_guard_.top; b; b = b->outer) {
        if (dlex_is_wcet(b->how) && b->limit_ns != INT64_MAX)
            b->limit_ns -= t->fork_cpu_ns;
        if (b->cpu_limit_ns != INT64_MAX)
            b->cpu_limit_ns -= t->fork_cpu_ns;
    }
    dlex_set_top(dlex_guard_.top);
}

/* The section that stands round fork (see the contract) looks at the deadlines when it ends, and
 * makes the new timer; a violation must not be delivered here, inside fork. */
static void in_forked_child(void)
{
    dlex_notify_in_child();
    struct thread_state *t = &dlex_thread_state;
    t->has_timer = false;
    t->armed_ns = 0;
    rebase_wcets(t);
    if (dlex_guard_.top)
        dlex_guard_.pending = 1;
}

static void init_process(void)
{
    const int err = -pthread_key_create(&thread_end, on_thread_end);
    if (err)
        process_error = err;
}

/* Early, so that what the program does before a fork it does before this, which takes the lock of
 * the router: it may wait there for a thread that has its first timed block. */
__attribute__((constructor)) static void watch_forks(void)
{
    process_error = -pthread_atfork(before_fork, dlex_notify_in_parent, in_forked_child);
}

/* Without memory for the key's value the thread could not give its timer back. */
static int create_for_thread(struct thread_state *t)
{
    const int err = dlex_notify_create(&t->notify);
    if (err)
        return err;
    const int no_memory = -pthread_setspecific(thread_end, t);
    if (no_memory)
        dlex_notify_destroy(&t->notify);
    return no_memory;
}

static int create_timer(struct thread_state *t)
{
    pthread_once(&once, init_process);
    int err = process_error;
    if (!err)
        err = dlex_signal_take();
    if (!err)
        err = create_for_thread(t);
    if (!err) {
        t->has_timer = true;
        dlex_signal_admit();
    }
    return err;
}

int dlex_timer_arm(struct thread_state *t, int64_t deadline_ns)
{
    int err = t->has_timer ? 0 : create_timer(t);
    if (!err)
        err = dlex_notify_arm(&t->notify, deadline_ns);
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
            dlex_notify_arm(&t->notify, INT64_MAX);
        dlex_notify_flush(&t->notify);
    }
    dlex_try_within_enable();
}
