/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "member_before.h"

#include "thread_list.h"

#include <errno.h>

enum { PASSES = 8 }; /* over threads that start others meanwhile */

/* Refers to a thread by its numbers only. */
static int refer(struct thread_ref *ref, pid_t process, pid_t thread)
{
    const int error = thread_ref_open(ref, process, thread);
    thread_ref_close(ref);
    return error;
}

/* True if the ids still mean the thread that they meant. */
static bool is_same(const struct thread_ref *ref)
{
    struct thread_ref now;
    return !refer(&now, ref->process, ref->thread) && now.started_ticks == ref->started_ticks;
}

/* True if the thread may run on this CPU only, or is gone. */
static bool is_confined(pid_t thread, int cpu)
{
    cpu_set_t now;
    return sched_getaffinity(thread, sizeof now, &now) || (CPU_COUNT(&now) == 1 && CPU_ISSET(cpu, &now));
}

int member_before_read(struct member_before *before, pid_t process, int cpu, int priority)
{
    before->threads = 0;
    before->cpu = cpu;
    before->priority = priority;
    int error = refer(&before->main, process, process);
    if (error)
        return error;
    if (!thread_ref_may_change(process))
        return -EPERM;
    error = thread_ordinary_get(process, &before->policy);
    return error == -EINVAL ? -EBUSY : error;
}

static int confine(struct member_before *before, pid_t thread)
{
    cpu_set_t only;
    if (before->threads == MEMBER_THREADS)
        return -E2BIG;
    struct thread_before *const one = &before->thread[before->threads];
    int error = refer(&one->thread, before->main.process, thread);
    if (!error && sched_getaffinity(thread, sizeof one->cpus, &one->cpus))
        error = -errno;
    if (error)
        return error;
    __atomic_store_n(&before->threads, before->threads + 1, __ATOMIC_RELEASE);
    CPU_ZERO(&only);
    CPU_SET(before->cpu, &only);
    return sched_setaffinity(thread, sizeof only, &only) ? -errno : 0;
}

/* Returns how many threads had to be confined, or a negative errno. */
static int confine_others(struct member_before *before)
{
    pid_t threads[MEMBER_THREADS + 1];
    int confined = 0;
    const int count = thread_list(before->main.process, threads, MEMBER_THREADS + 1);
    for (int i = 0; i < count; i++) {
        if (is_confined(threads[i], before->cpu))
            continue;
        const int error = confine(before, threads[i]);
        if (error && error != -ESRCH) /* that one has just ended */
            return error;
        confined++;
    }
    return count < 0 ? count : confined;
}

int member_before_confine(struct member_before *before)
{
    int confined = 1;
    for (int pass = 0; pass < PASSES && confined > 0; pass++)
        confined = confine_others(before);
    return confined < 0 ? confined : 0;
}

/* True if the main thread has what only a member gets. */
static bool has_given_policy(const struct member_before *before)
{
    const pid_t main = before->main.thread;
    struct thread_ordinary ordinary;
    struct thread_policy now;
    if (!thread_ordinary_get(main, &ordinary))
        return ordinary.number == SCHED_IDLE;
    return !thread_policy_get(main, &now) && now.kind == THREAD_FIFO && now.priority == before->priority;
}

void member_before_give_back(const struct member_before *before)
{
    const int threads = __atomic_load_n(&before->threads, __ATOMIC_ACQUIRE);
    if (is_same(&before->main) && has_given_policy(before))
        thread_ordinary_set(before->main.thread, &before->policy);
    for (int i = 0; i < threads; i++) {
        const struct thread_before *const one = &before->thread[i];
        if (is_same(&one->thread) && is_confined(one->thread.thread, before->cpu))
            sched_setaffinity(one->thread.thread, sizeof one->cpus, &one->cpus);
    }
}
