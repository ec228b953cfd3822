/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "raw_timer.h"

#include "ns.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define RAW_SIGNAL (SIGRTMIN + 3) /* any signal that libdlex does not use */

static volatile clockid_t armed_clock;
static volatile int64_t handled_ns;

static int64_t read_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return ns_from_timespec(now);
}

static void note_time(int signal)
{
    (void)signal;
    handled_ns = read_ns(armed_clock);
}

int raw_timer_init(struct raw_timer *timer, clockid_t clock)
{
    struct sigaction action = {.sa_handler = note_time};
    if (sigaction(RAW_SIGNAL, &action, NULL))
        return -errno;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = RAW_SIGNAL};
    event._sigev_un._tid = gettid(); /* before 2.38 glibc has no public name for this field */
    timer->clock = clock;
    return timer_create(clock, &event, &timer->id) ? -errno : 0;
}

void raw_timer_finish(struct raw_timer *timer)
{
    timer_delete(timer->id);
}

int64_t raw_timer_latency_ns(const struct raw_timer *timer, int64_t delay_ns)
{
    armed_clock = timer->clock;
    handled_ns = 0;
    const int64_t expiry_ns = read_ns(timer->clock) + delay_ns;
    const struct itimerspec when = {
        .it_value = ns_to_timespec(expiry_ns),
    };
    if (timer_settime(timer->id, TIMER_ABSTIME, &when, NULL))
        return -errno;
    while (!handled_ns)
        ; /* compute, as a decoder would */
    return handled_ns - expiry_ns;
}
