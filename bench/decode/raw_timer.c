/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "raw_timer.h"

#include <dlex/dlex.h>
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define RAW_SIGNAL (SIGRTMIN + 3) /* any that libdlex does not use */

static volatile int64_t handled_ns;

static void note_time(int signal)
{
    (void)signal;
    handled_ns = dlex_now_ns();
}

int raw_timer_create(timer_t *timer)
{
    struct sigaction action = {.sa_handler = note_time};
    if (sigaction(RAW_SIGNAL, &action, NULL))
        return -errno;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = RAW_SIGNAL};
    event._sigev_un._tid = gettid(); /* glibc has no public name for it before 2.38 */
    return timer_create(CLOCK_MONOTONIC, &event, timer) ? -errno : 0;
}

int64_t raw_timer_latency_ns(timer_t timer, int64_t delay_ns)
{
    handled_ns = 0;
    const int64_t expiry_ns = dlex_now_ns() + delay_ns;
    const struct itimerspec when = {
        .it_value = {.tv_sec = expiry_ns / 1000000000, .tv_nsec = expiry_ns % 1000000000},
    };
    if (timer_settime(timer, TIMER_ABSTIME, &when, NULL))
        return -errno;
    while (!handled_ns)
        ; /* computing, as a decoder would be */
    return handled_ns - expiry_ns;
}
