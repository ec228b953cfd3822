/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "helper_threads.h"

#include "log.h"
#include "thread_cpu.h"
#include "thread_list.h"
#include "thread_role.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <unistd.h>

void helper_watch_begin(struct helper_watch *watch, const char *name)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &watch->signals);
    watch->count = thread_list(getpid(), watch->before, HELPER_WATCH_MAX);
    prctl(PR_GET_NAME, watch->name);
    prctl(PR_SET_NAME, name);
}

static bool was_there(const struct helper_watch *watch, pid_t thread)
{
    for (int i = 0; i < watch->count; i++)
        if (watch->before[i] == thread)
            return true;
    return false;
}

void helper_watch_end(struct helper_watch *watch, struct helper_threads *helpers, unsigned roles)
{
    prctl(PR_SET_NAME, watch->name);
    pid_t now[HELPER_WATCH_MAX];
    const int count = watch->count > 0 ? thread_list(getpid(), now, HELPER_WATCH_MAX) : 0;
    helpers->count = 0;
    for (int i = 0; i < count && helpers->count < HELPER_THREADS_MAX; i++) {
        if (was_there(watch, now[i]))
            continue;
        if (thread_role_give(now[i], roles) < 0)
            log_note("too many threads: one that decodes has no role, and runs like those that do not");
        helpers->threads[helpers->count++] = now[i];
    }
    pthread_sigmask(SIG_SETMASK, &watch->signals, NULL);
}

void helper_threads_release(struct helper_threads *helpers)
{
    for (int i = 0; i < helpers->count; i++)
        thread_role_give(helpers->threads[i], 0);
    helpers->count = 0;
}

int64_t helper_threads_cpu_ns(const struct helper_threads *helpers)
{
    int64_t sum_ns = 0;
    for (int i = 0; i < helpers->count; i++)
        sum_ns += thread_cpu_ns_of(helpers->threads[i]);
    return sum_ns;
}
