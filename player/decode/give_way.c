/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "give_way.h"

#include "ns.h"
#include "thread_cpu.h"

#include <errno.h>
#include <linux/futex.h>
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
    LOOK_NS = NS_PER_MS / 2, /* looking takes a few us */
    HALT_NS = NS_PER_MS, /* a thread that ran for less than the time that passed did not run all the time */
};

/* That of the thread which decodes, while it does. */
static _Thread_local struct give_way *volatile decoding;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ns_from_timespec(now);
}

void give_way_open(struct give_way *give_way)
{
    *give_way = (struct give_way){.frame_duration_ns = 1};
    cpu_quota_open(&give_way->quota, &control_groups_of_system);
    quota_window_init(&give_way->window, give_way->quota.quota_ns, give_way->quota.period_ns);
}

static bool is_needed(const struct give_way *give_way)
{
    return give_way->quota.period_ns && give_way->quota.stat >= 0;
}

void give_way_to(struct give_way *give_way, const struct quota_presenting *presenting)
{
    if (!is_needed(give_way))
        return;
    atomic_store(&give_way->next_due_ns, presenting->next_due_ns);
    atomic_store(&give_way->frame_duration_ns, presenting->frame_duration_ns);
    atomic_store(&give_way->presenting_ns, presenting->cpu_ns);
    atomic_fetch_add(&give_way->changes, 1);
    syscall(SYS_futex, &give_way->changes, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void note_look(struct give_way *give_way)
{
    give_way->seen_ns = now_ns();
    give_way->used_ns = thread_cpu_ns();
}

/* The kernel's halt ends now, if it has halted the program since the last look. */
static void look_for_halt(struct give_way *give_way)
{
    const int64_t throttled = cpu_quota_throttled(&give_way->quota);
    if (throttled != give_way->throttled)
        quota_window_begin(&give_way->window, now_ns(), program_cpu_ns());
    give_way->throttled = throttled;
}

static void pause_if_spent(struct give_way *give_way)
{
    for (;;) {
        const uint32_t changes = atomic_load(&give_way->changes);
        const struct quota_presenting presenting = {
            .next_due_ns = atomic_load(&give_way->next_due_ns),
            .frame_duration_ns = atomic_load(&give_way->frame_duration_ns),
            .cpu_ns = atomic_load(&give_way->presenting_ns),
        };
        const int64_t at_ns = now_ns();
        const int64_t until_ns = quota_window_pause_ns(&give_way->window, at_ns, program_cpu_ns(), &presenting);
        if (until_ns <= at_ns)
            return;
        const struct timespec most = ns_to_timespec(until_ns - at_ns);
        syscall(SYS_futex, &give_way->changes, FUTEX_WAIT_PRIVATE, changes, &most, NULL, 0);
    }
}

/* Async-signal-safe. */
static void look(int signal)
{
    (void)signal;
    const int before = errno;
    struct give_way *const give_way = decoding;
    if (give_way) {
        if (now_ns() - give_way->seen_ns - (thread_cpu_ns() - give_way->used_ns) > HALT_NS)
            look_for_halt(give_way);
        pause_if_spent(give_way);
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
    if (!is_needed(give_way))
        return;
    if (!give_way->has_timer)
        make_timer(give_way);
    if (!give_way->has_timer)
        return;
    give_way->throttled = cpu_quota_throttled(&give_way->quota); /* it is not known when halts before this one ended */
    pause_if_spent(give_way);
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

void give_way_close(struct give_way *give_way)
{
    if (give_way->has_timer)
        timer_delete(give_way->timer);
    give_way->has_timer = false;
    cpu_quota_close(&give_way->quota);
}
