/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu_share.h"

#include "ns.h"
#include "thread_cpu.h"

#include <errno.h>
#include <linux/futex.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id /* older glibc names only the field */
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* libdlex uses SIGRTMIN + 7. */
#define HALT_SIGNAL (SIGRTMIN + 5)

enum {
    LOOK_MIN_NS = NS_PER_MS / 20,
    LOOK_MAX_NS = 20 * NS_PER_MS, /* what is allowed may become less while a decode runs */
    /* Pictures come more often, unless the presenting thread waits for a lock that the halted decode holds. */
    HALT_MAX_NS = 100 * NS_PER_MS,
    AFTER_HALT_NS = 5 * NS_PER_MS,
};

/* That of the thread which decodes, while it does. */
static _Thread_local struct cpu_share *volatile decoding;

void cpu_share_init(struct cpu_share *share, double quota)
{
    *share = (struct cpu_share){.is_limited = !isinf(quota), .until_ns = INT64_MAX};
    allowance_init(&share->allowance, quota);
}

static void publish(struct cpu_share *share, int64_t until_ns)
{
    atomic_store(&share->until_ns, until_ns);
    atomic_fetch_add(&share->turn, 1);
    syscall(SYS_futex, &share->turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void cpu_share_renew(struct cpu_share *share, int64_t presenting_ns)
{
    if (!share->is_limited)
        return;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    publish(share, allowance_renew(&share->allowance, ns_from_timespec(now), program_cpu_ns(), presenting_ns));
}

bool cpu_share_release(struct cpu_share *share)
{
    allowance_restart(&share->allowance);
    if (!share->is_limited || atomic_load(&share->until_ns) == INT64_MAX)
        return false;
    publish(share, INT64_MAX);
    return true;
}

static int64_t left_ns(struct cpu_share *share)
{
    const int64_t until_ns = atomic_load(&share->until_ns);
    return until_ns == INT64_MAX ? INT64_MAX : until_ns - program_cpu_ns();
}

bool cpu_share_is_spent(struct cpu_share *share)
{
    return share->is_limited && left_ns(share) <= 0;
}

/* While it runs, a thread uses no more CPU time than time passes: so this is not too late. */
static void look_after(const struct cpu_share *share, int64_t wait_ns)
{
    wait_ns = wait_ns < LOOK_MIN_NS ? LOOK_MIN_NS : wait_ns > LOOK_MAX_NS ? LOOK_MAX_NS : wait_ns;
    const struct itimerspec when = {.it_value = ns_to_timespec(wait_ns)};
    timer_settime(share->timer, 0, &when, NULL);
}

/* Async-signal-safe. */
static void halt(int signal)
{
    (void)signal;
    const int before = errno;
    struct cpu_share *const share = decoding;
    const struct timespec most = ns_to_timespec(HALT_MAX_NS);
    int64_t wait_ns = LOOK_MAX_NS;
    while (share && decoding) {
        const uint32_t turn = atomic_load(&share->turn);
        wait_ns = left_ns(share);
        if (wait_ns > 0)
            break;
        wait_ns = AFTER_HALT_NS;
        if (syscall(SYS_futex, &share->turn, FUTEX_WAIT_PRIVATE, turn, &most, NULL, 0) < 0 && errno == ETIMEDOUT)
            break;
    }
    if (share)
        look_after(share, wait_ns);
    errno = before;
}

/* Returns whether the thread has a timer that sends it the signal. */
static bool make_timer(struct cpu_share *share)
{
    struct sigaction action = {.sa_handler = halt, .sa_flags = SA_RESTART};
    sigfillset(&action.sa_mask);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = HALT_SIGNAL};
    event.sigev_notify_thread_id = gettid();
    sigset_t halting;
    sigemptyset(&halting);
    sigaddset(&halting, HALT_SIGNAL);
    share->has_timer = !sigaction(HALT_SIGNAL, &action, NULL) && !pthread_sigmask(SIG_UNBLOCK, &halting, NULL) &&
                       !timer_create(CLOCK_MONOTONIC, &event, &share->timer);
    return share->has_timer;
}

void cpu_share_begin(struct cpu_share *share)
{
    if (!share->is_limited || (!share->has_timer && !make_timer(share)))
        return;
    decoding = share;
    look_after(share, left_ns(share));
}

void cpu_share_end(struct cpu_share *share)
{
    if (!decoding)
        return;
    decoding = NULL;
    timer_settime(share->timer, 0, &(const struct itimerspec){0}, NULL);
}

void cpu_share_finish(struct cpu_share *share)
{
    if (share->has_timer)
        timer_delete(share->timer);
    share->has_timer = false;
}
