/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <dlex/signal.h>

#include "notify.h"

#ifndef sigev_notify_thread_id /* older glibc names only the field */
#define sigev_notify_thread_id _sigev_un._tid
#endif

static int create_timer(clockid_t clock, timer_t *timer)
{
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = dlex_signal() };
    event.sigev_notify_thread_id = gettid();
    return timer_create(clock, &event, timer) < 0 ? -errno : 0;
}

int dlex_notify_create(struct notify *n)
{
    n->has_running_timer = false;
    return create_timer(CLOCK_MONOTONIC, &n->timer);
}

void dlex_notify_destroy(struct notify *n)
{
    timer_delete(n->timer);
    if (n->has_running_timer)
        timer_delete(n->running_timer);
}

void dlex_notify_prepare_running(struct notify *n)
{
    if (!n->has_running_timer)
        n->has_running_timer = create_timer(CLOCK_THREAD_CPUTIME_ID, &n->running_timer) == 0;
}

int dlex_notify_when_running(struct notify *n)
{
    const struct itimerspec now = { .it_value = { .tv_nsec = 1 } };
    if (!n->has_running_timer)
        return -ENOTSUP;
    return timer_settime(n->running_timer, 0, &now, NULL) < 0 ? -errno : 0;
}

long dlex_notify_switches(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) < 0 ? 0 : usage.ru_nvcsw;
}

int dlex_notify_arm(struct notify *n, int64_t expiry_ns)
{
    struct itimerspec spec = { 0 };
    if (expiry_ns != INT64_MAX) {
        /* A time of zero would disarm the timer. */
        const int64_t time_ns = expiry_ns > 0 ? expiry_ns : 1;
        spec.it_value.tv_sec = time_ns / 1000000000;
        spec.it_value.tv_nsec = time_ns % 1000000000;
    }
    return timer_settime(n->timer, TIMER_ABSTIME, &spec, NULL) < 0 ? -errno : 0;
}

/* Nothing to do: a signal that was sent before was handled on the return from the system call that
 * replaced its expiry. */
void dlex_notify_flush(struct notify *n)
{
    (void)n;
}

/* A child does not inherit timers. */
void dlex_notify_before_fork(void) { }
void dlex_notify_in_parent(void) { }
void dlex_notify_in_child(void) { }
