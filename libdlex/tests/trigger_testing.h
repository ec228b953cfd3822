/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of triggers: another thread that fires as soon as the body has begun. */
#ifndef TRIGGER_TESTING_H
#define TRIGGER_TESTING_H

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "dlex_testing.h"
#include "thread.h"

static struct dlex_trigger trigger, other;

/* The body sets it. The thread that fires waits for it. */
static _Atomic bool begun;
/* The thread that fires sets it when dlex_trigger_fire has returned. */
static _Atomic bool fired;
static int fire_result;
static int64_t fire_begin_ns, fire_end_ns;

static inline void *fire_once_begun(void *which)
{
    while (!begun)
        usleep(100);
    fire_begin_ns = dlex_now_ns();
    fire_result = dlex_trigger_fire(which);
    fire_end_ns = dlex_now_ns();
    fired = true;
    return NULL;
}

/* Runs the scenario while another thread fires the trigger as soon as `begun` is set. Returns the log. */
static inline const char *log_with(struct dlex_trigger *which, void (*scenario)(void))
{
    pthread_t thread;
    log_clear();
    begun = fired = false;
    dlex_trigger_reset(&trigger);
    dlex_trigger_reset(&other);
    if (pthread_create(&thread, NULL, fire_once_begun, which) != 0)
        return "no thread";
    scenario();
    begun = true; /* for a scenario whose body did not begin */
    pthread_join(thread, NULL);
    return fire_result ? "not fired" : log_text();
}

static inline const char *log_of(void (*scenario)(void))
{
    return log_with(&trigger, scenario);
}

/* For code in which the violation must wait: the signal of the firing has arrived when this returns. */
static inline void wait_for_the_signal(void)
{
    begun = true;
    while (!dlex_guard_.pending)
        ;
}

static inline void wait_for_the_firing(void)
{
    begun = true;
    while (!fired)
        ;
}

/* Runs it in a thread of its own. */
static inline void *result_of(void *(*run)(void *))
{
    pthread_t thread;
    void *result = NULL;
    if (pthread_create(&thread, NULL, run, NULL) == 0)
        pthread_join(thread, &result);
    return result;
}

#endif
