/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "limits_watch.h"

#include "ns.h"
#include "thread_role.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { LOOK_STEP_NS = 250 * NS_PER_MS };

struct limits_watch {
    struct control_group_files files;
    pthread_t thread;
    pthread_mutex_t lock;   /* guards everything below; taken by the watch's thread and the callers */
    pthread_cond_t changed; /* the thread is to end. CLOCK_MONOTONIC */
    struct cpu_limits seen;
    bool ends;
};

void limits_watch_look(struct limits_watch *watch)
{
    const int cpus = thread_role_cpus(ROLE_DECODE | ROLE_PRESENT);
    const struct cpu_limits limits = {.cpus = cpus ? cpus : cpu_limits_affinity(), .quota = cpu_limits_quota(&watch->files)};
    pthread_mutex_lock(&watch->lock);
    watch->seen = limits;
    pthread_mutex_unlock(&watch->lock);
}

struct cpu_limits limits_watch_seen(struct limits_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    const struct cpu_limits seen = watch->seen;
    pthread_mutex_unlock(&watch->lock);
    return seen;
}

/* Waits for the next look. Returns false if the thread is to end. */
static bool wait_for_next(struct limits_watch *watch)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const struct timespec until = ns_to_timespec(ns_from_timespec(now) + LOOK_STEP_NS);
    int waited = 0;
    pthread_mutex_lock(&watch->lock);
    while (!watch->ends && !waited)
        waited = pthread_cond_timedwait(&watch->changed, &watch->lock, &until);
    const bool goes_on = !watch->ends;
    pthread_mutex_unlock(&watch->lock);
    return goes_on;
}

static void *run(void *arg)
{
    struct limits_watch *const watch = arg;
    pthread_setname_np(pthread_self(), "limits");
    while (wait_for_next(watch))
        limits_watch_look(watch);
    return NULL;
}

/* Signals for the program must reach the main thread. */
static int start(struct limits_watch *watch)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int ret = pthread_create(&watch->thread, NULL, run, watch);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -ret;
}

static void release(struct limits_watch *watch)
{
    pthread_cond_destroy(&watch->changed);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}

int limits_watch_create(struct limits_watch **out, const struct control_group_files *files)
{
    struct limits_watch *const watch = calloc(1, sizeof *watch);
    if (!watch)
        return -ENOMEM;
    watch->files = *files;
    pthread_mutex_init(&watch->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&watch->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    const int ret = start(watch);
    if (ret < 0)
        release(watch);
    else
        *out = watch;
    return ret;
}

void limits_watch_destroy(struct limits_watch **watch)
{
    if (!*watch)
        return;
    pthread_mutex_lock(&(*watch)->lock);
    (*watch)->ends = true;
    pthread_cond_signal(&(*watch)->changed);
    pthread_mutex_unlock(&(*watch)->lock);
    pthread_join((*watch)->thread, NULL);
    release(*watch);
    *watch = NULL;
}
