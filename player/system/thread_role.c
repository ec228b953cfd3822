/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "thread_role.h"

#include "thread_cpu.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

struct entry {
    pid_t thread; /* 0: the entry is free */
    unsigned roles;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards what follows; taken by every function below */
static struct entry entries[THREAD_ROLES_MAX];
static int64_t past_cpu_ns[ROLES_ALL + 1]; /* of threads whose roles were taken away, by these roles */

/* Returns the entry of a thread, or NULL. find(0) returns a free one. The caller holds the mutex. */
static struct entry *find(pid_t thread)
{
    for (int i = 0; i < THREAD_ROLES_MAX; i++)
        if (entries[i].thread == thread)
            return &entries[i];
    return NULL;
}

/* Returns the entry, NULL if there is none. The caller holds the mutex. */
static struct entry *set(pid_t thread, unsigned roles)
{
    struct entry *entry = find(thread);
    if (!entry && roles)
        entry = find(0);
    if (entry)
        *entry = (struct entry){.thread = roles ? thread : 0, .roles = roles};
    return entry;
}

int thread_role_take(unsigned roles)
{
    pthread_mutex_lock(&mutex);
    const struct entry *const entry = set(gettid(), roles);
    pthread_mutex_unlock(&mutex);
    return entry || !roles ? 0 : -EAGAIN;
}

int thread_role_give(pid_t thread, unsigned roles)
{
    pthread_mutex_lock(&mutex);
    const struct entry *const before = find(thread);
    if (before && !roles)
        past_cpu_ns[before->roles & ROLES_ALL] += thread_cpu_ns_of(thread);
    const struct entry *const entry = set(thread, roles);
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

int thread_role_cpus(unsigned roles)
{
    cpu_set_t all;
    cpu_set_t own;
    CPU_ZERO(&all);
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < THREAD_ROLES_MAX; i++)
        if (entries[i].thread && entries[i].roles & roles && !sched_getaffinity(entries[i].thread, sizeof own, &own))
            CPU_OR(&all, &all, &own);
    pthread_mutex_unlock(&mutex);
    return CPU_COUNT(&all);
}

int64_t thread_role_cpu_ns(unsigned roles)
{
    int64_t sum_ns = 0;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < THREAD_ROLES_MAX; i++)
        if (entries[i].thread && entries[i].roles & roles)
            sum_ns += thread_cpu_ns_of(entries[i].thread);
    for (unsigned of = 0; of <= ROLES_ALL; of++)
        if (of & roles)
            sum_ns += past_cpu_ns[of];
    pthread_mutex_unlock(&mutex);
    return sum_ns;
}
