/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "thread_role.h"

#include "ns.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct entry {
    pid_t thread; /* 0: the entry is free */
    pthread_t handle;
    unsigned roles;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards entries; taken by every function below */
static struct entry entries[THREAD_ROLES_MAX];

/* Returns the entry of a thread, or NULL. find(0) returns a free one. The caller holds the mutex. */
static struct entry *find(pid_t thread)
{
    for (int i = 0; i < THREAD_ROLES_MAX; i++)
        if (entries[i].thread == thread)
            return &entries[i];
    return NULL;
}

int thread_role_take(unsigned roles)
{
    const pid_t self = gettid();
    pthread_mutex_lock(&mutex);
    struct entry *entry = find(self);
    if (!entry && roles)
        entry = find(0);
    if (entry)
        *entry = (struct entry){.thread = roles ? self : 0, .handle = pthread_self(), .roles = roles};
    pthread_mutex_unlock(&mutex);
    return entry || !roles ? 0 : -EAGAIN;
}

unsigned thread_role_of(pid_t thread)
{
    pthread_mutex_lock(&mutex);
    const struct entry *const entry = thread > 0 ? find(thread) : NULL;
    const unsigned roles = entry ? entry->roles : 0;
    pthread_mutex_unlock(&mutex);
    return roles;
}

const char *thread_role_text(unsigned roles, char text[THREAD_ROLES_TEXT_SIZE])
{
    static const char *const names[] = {"decode", "present", "feed"};
    text[0] = '\0';
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (roles & 1u << i) {
            if (text[0])
                strcat(text, ", ");
            strcat(text, names[i]);
        }
    return text;
}

static int64_t cpu_ns(pthread_t thread)
{
    clockid_t clock;
    struct timespec used;
    if (pthread_getcpuclockid(thread, &clock) || clock_gettime(clock, &used))
        return 0;
    return ns_from_timespec(used);
}

int64_t thread_role_cpu_ns(unsigned roles)
{
    int64_t sum_ns = 0;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < THREAD_ROLES_MAX; i++)
        if (entries[i].thread && entries[i].roles & roles)
            sum_ns += cpu_ns(entries[i].handle);
    pthread_mutex_unlock(&mutex);
    return sum_ns;
}
