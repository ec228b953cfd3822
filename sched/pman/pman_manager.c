/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The manager's two threads. One gives ticks, ends delays and looks at deadlines: it sleeps until the next of these times, or until
 * somebody rings because there is an earlier one. The other one waits for the ends of processes (pman_deaths.h).
 */
#include "pman.h"

#include "futex.h"
#include "manager_thread.h"
#include "ns.h"
#include "pman_deaths.h"
#include "pman_services.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Nothing is late by more than this if a program was killed before it rang. */
static const int64_t look_again_ns = NS_PER_S;

struct pman_manager {
    struct pman_shared *shared;
    struct pman_manager_options options;
    struct pman_deaths *deaths;
    pthread_t thread;
    sem_t has_begun;
    int error;            /* before has_begun: why it has not */
    uint32_t must_end;    /* atomic */
    int64_t next_tick_ns;
};

/* The first tick is now. In a table that has had ticks, theirs go on. */
static int64_t first_tick_ns(const struct pman_manager *manager)
{
    const int64_t period_ns = manager->options.tick_ns, now_ns = pman_now_ns(), last_ns = manager->shared->last_tick_ns;
    if (!period_ns)
        return PMAN_NEVER;
    return last_ns ? last_ns + ((now_ns - last_ns) / period_ns + 1) * period_ns : now_ns;
}

/* Gives the tick that is due, if one is. */
static void tick(struct pman_manager *manager)
{
    const int64_t period_ns = manager->options.tick_ns, late_ns = pman_now_ns() - manager->next_tick_ns;
    if (late_ns < 0)
        return;
    const int64_t lost = late_ns / period_ns;
    const int64_t tick_ns = manager->next_tick_ns + lost * period_ns;
    manager->shared->lost_ticks += lost;
    manager->next_tick_ns = tick_ns + period_ns;
    pman_services_tick(manager->shared, tick_ns);
}

/* Ends delays and looks at deadlines. Returns how long there is nothing to do, or -ESHUTDOWN. */
static int64_t run_timer(struct pman_manager *manager)
{
    const int64_t again_ns = pman_now_ns() + look_again_ns;
    return pman_services_timer(manager->shared, manager->next_tick_ns < again_ns ? manager->next_tick_ns : again_ns);
}

static void manage(struct pman_manager *manager)
{
    while (!__atomic_load_n(&manager->must_end, __ATOMIC_ACQUIRE)) {
        const uint32_t bell = __atomic_load_n(&manager->shared->manager_bell, __ATOMIC_ACQUIRE); /* rung after a change */
        __atomic_store_n(&manager->shared->manager_until_ns, 0, __ATOMIC_RELAXED); /* nobody needs to ring while it is awake */
        if (manager->next_tick_ns != PMAN_NEVER)
            tick(manager);
        const int64_t until_ns = run_timer(manager);
        if (until_ns < 0)
            return;
        pman_deaths_look(manager->deaths);
        futex_wait(&manager->shared->manager_bell, bell, until_ns);
    }
}

/* The mutex belongs to this thread; when it dies, the next manager gets it. */
static int take_office(struct pman_manager *manager)
{
    const int error = pthread_mutex_trylock(&manager->shared->managing);
    if (error && error != EOWNERDEAD)
        return error == EBUSY ? -EBUSY : -error;
    if (error)
        pthread_mutex_consistent(&manager->shared->managing);
    if (pman_shared_is_closed(manager->shared)) {
        pthread_mutex_unlock(&manager->shared->managing);
        return -ESHUTDOWN;
    }
    prctl(PR_SET_TIMERSLACK, 1); /* ns; the usual 50 us would be the lateness of each delay without a priority */
    manager->shared->manager_pid = getpid();
    manager->next_tick_ns = first_tick_ns(manager);
    return 0;
}

static void *run(void *context)
{
    struct pman_manager *const manager = context;
    manager->error = take_office(manager);
    const bool has_office = !manager->error;
    sem_post(&manager->has_begun); /* from here on *manager may be gone if there was an error */
    if (!has_office)
        return NULL;
    manage(manager);
    pthread_mutex_unlock(&manager->shared->managing);
    return NULL;
}

static int start(struct pman_manager *manager)
{
    int error = pman_deaths_create(&manager->deaths, manager->shared, manager->options.priority);
    if (error)
        return error;
    error = manager_thread_start(&manager->thread, manager->options.priority, run, manager);
    if (!error) {
        while (sem_wait(&manager->has_begun) && errno == EINTR)
            ;
        error = manager->error;
        if (error)
            pthread_join(manager->thread, NULL);
    }
    if (error)
        pman_deaths_destroy(&manager->deaths);
    return error;
}

static bool is_possible(const struct pman_manager_options *options)
{
    if (!options || options->priority < 0 || options->priority > sched_get_priority_max(SCHED_FIFO))
        return false;
    return !options->tick_ns || (options->tick_ns >= PMAN_TICK_MIN && options->tick_ns <= PMAN_TIME_MAX);
}

int pman_manager_start(struct pman_manager **manager, struct pman *pman, const struct pman_manager_options *options)
{
    if (!is_possible(options))
        return -EINVAL;
    struct pman_manager *const made = calloc(1, sizeof *made);
    if (!made)
        return -ENOMEM;
    made->shared = pman->shared;
    made->options = *options;
    sem_init(&made->has_begun, 0, 0);
    const int error = start(made);
    if (error) {
        sem_destroy(&made->has_begun);
        free(made);
        return error;
    }
    *manager = made;
    return 0;
}

void pman_manager_stop(struct pman_manager **manager)
{
    struct pman_manager *const stopped = *manager;
    if (!stopped)
        return;
    __atomic_store_n(&stopped->must_end, 1, __ATOMIC_RELEASE);
    __atomic_fetch_add(&stopped->shared->manager_bell, 1, __ATOMIC_RELEASE);
    futex_wake(&stopped->shared->manager_bell);
    pthread_join(stopped->thread, NULL);
    pman_deaths_destroy(&stopped->deaths);
    sem_destroy(&stopped->has_begun);
    free(stopped);
    *manager = NULL;
}
