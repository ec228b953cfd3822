/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "give_way.h"

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
#define LOOK_SIGNAL (SIGRTMIN + 5)

enum {
    LOOK_NS = NS_PER_MS,      /* a hundredth of it is the cost */
    HALT_NS = 3 * NS_PER_MS,  /* other programs' short tasks take the CPU for less */
    WAIT_MAX_NS = 100 * NS_PER_MS,
};

/* That of the thread which decodes, while it does. */
static _Thread_local struct give_way *volatile decoding;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ns_from_timespec(now);
}

void give_way_init(struct give_way *give_way, double quota)
{
    *give_way = (struct give_way){.is_needed = !isinf(quota)};
}

void give_way_note_presented(struct give_way *give_way, bool is_wanted)
{
    if (!give_way->is_needed)
        return;
    atomic_store(&give_way->is_wanted, is_wanted);
    atomic_fetch_add(&give_way->presented, 1);
    syscall(SYS_futex, &give_way->presented, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void wait_for_presenter(struct give_way *give_way)
{
    const uint32_t presented = atomic_load(&give_way->presented);
    const struct timespec most = ns_to_timespec(WAIT_MAX_NS);
    while (atomic_load(&give_way->is_wanted) && atomic_load(&give_way->presented) == presented)
        if (syscall(SYS_futex, &give_way->presented, FUTEX_WAIT_PRIVATE, presented, &most, NULL, 0) < 0 && errno == ETIMEDOUT)
            return;
}

static void note_look(struct give_way *give_way)
{
    give_way->seen_ns = now_ns();
    give_way->used_ns = thread_cpu_ns();
}

/* Async-signal-safe. */
static void look(int signal)
{
    (void)signal;
    const int before = errno;
    struct give_way *const give_way = decoding;
    if (give_way) {
        const int64_t halted_ns = now_ns() - give_way->seen_ns - (thread_cpu_ns() - give_way->used_ns);
        if (halted_ns > HALT_NS)
            wait_for_presenter(give_way);
        note_look(give_way);
    }
    errno = before;
}

/* The thread gets a timer that sends it the signal. Without one it never gives way. */
static void make_timer(struct give_way *give_way)
{
    struct sigaction action = {.sa_handler = look, .sa_flags = SA_RESTART};
    sigfillset(&action.sa_mask);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = LOOK_SIGNAL};
    event.sigev_notify_thread_id = gettid();
    sigset_t looking;
    sigemptyset(&looking);
    sigaddset(&looking, LOOK_SIGNAL);
    give_way->has_timer = !sigaction(LOOK_SIGNAL, &action, NULL) && !pthread_sigmask(SIG_UNBLOCK, &looking, NULL) &&
                          !timer_create(CLOCK_MONOTONIC, &event, &give_way->timer);
}

static void look_each(struct give_way *give_way, int64_t interval_ns)
{
    const struct timespec interval = ns_to_timespec(interval_ns);
    timer_settime(give_way->timer, 0, &(const struct itimerspec){interval, interval}, NULL);
}

void give_way_begin(struct give_way *give_way)
{
    if (!give_way->is_needed)
        return;
    if (!give_way->has_timer)
        make_timer(give_way);
    if (!give_way->has_timer)
        return;
    note_look(give_way);
    decoding = give_way;
    look_each(give_way, LOOK_NS);
}

void give_way_end(struct give_way *give_way)
{
    if (!decoding)
        return;
    decoding = NULL;
    look_each(give_way, 0);
}

void give_way_finish(struct give_way *give_way)
{
    if (give_way->has_timer)
        timer_delete(give_way->timer);
    give_way->has_timer = false;
}
