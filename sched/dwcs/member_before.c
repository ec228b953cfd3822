/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "member_before.h"

#include "member_journal.h"
#include "ns.h"
#include "thread_list.h"
#include "timer_slack.h"

#include <errno.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    PASSES = 8, /* over threads that start others meanwhile */
    FAMILY_MAX = 256,
};

/* A thread that starts from now on has this number of ticks or more. */
static uint64_t now_ticks(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)(ns_from_timespec(now) / (NS_PER_S / sysconf(_SC_CLK_TCK)));
}

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

static bool may_change(const struct member_before *before, pid_t process)
{
    return !before->is_recorded || thread_ref_may_change(process);
}

static bool is_only(const cpu_set_t *cpus, int cpu)
{
    return CPU_COUNT(cpus) == 1 && CPU_ISSET(cpu, cpus);
}

/* True if the thread may run on this CPU only, or is gone. */
static bool is_confined(pid_t thread, int cpu)
{
    cpu_set_t now;
    return sched_getaffinity(thread, sizeof now, &now) || is_only(&now, cpu);
}

int member_before_read(struct member_before *before, pid_t process, int cpu, int priority)
{
    before->threads = 0;
    before->cpu = cpu;
    before->priority = priority;
    before->joined_ticks = now_ticks();
    before->nice = getpriority(PRIO_PROCESS, (id_t)process);
    before->timer_slack_ns = timer_slack_get(process);
    before->is_left_alone = before->is_recorded = false;
    int error = refer(&before->main, process, process);
    if (error)
        return error;
    if (!thread_ref_may_change(process))
        return -EPERM;
    error = thread_ordinary_get(process, &before->policy);
    if (error)
        return error == -EINVAL ? -EBUSY : error;
    return sched_getaffinity(process, sizeof before->cpus, &before->cpus) ? -errno : 0;
}

static int confine(struct member_before *before, pid_t thread, const struct undo_journal *journal)
{
    cpu_set_t only;
    if (before->threads == MEMBER_THREADS)
        return -E2BIG;
    struct thread_before *const one = &before->thread[before->threads];
    int error = refer(&one->thread, before->main.process, thread);
    if (!error && sched_getaffinity(thread, sizeof one->cpus, &one->cpus))
        error = -errno;
    if (!error && journal)
        error = member_journal_note_thread(journal, one);
    if (error)
        return error;
    __atomic_store_n(&before->threads, before->threads + 1, __ATOMIC_RELEASE);
    CPU_ZERO(&only);
    CPU_SET(before->cpu, &only);
    return sched_setaffinity(thread, sizeof only, &only) ? -errno : 0;
}

/* Returns how many threads had to be confined, or a negative errno. */
static int confine_others(struct member_before *before, const struct undo_journal *journal)
{
    pid_t threads[MEMBER_THREADS + 1];
    int confined = 0;
    const int count = thread_list(before->main.process, threads, MEMBER_THREADS + 1);
    for (int i = 0; i < count; i++) {
        if (is_confined(threads[i], before->cpu))
            continue;
        const int error = confine(before, threads[i], journal);
        if (error && error != -ESRCH) /* that one has just ended */
            return error;
        confined++;
    }
    return count < 0 ? count : confined;
}

int member_before_confine(struct member_before *before, const struct undo_journal *journal)
{
    int confined = 1;
    for (int pass = 0; pass < PASSES && confined > 0; pass++)
        confined = confine_others(before, journal);
    return confined < 0 ? confined : 0;
}

void member_before_leave_alone(struct member_before *before)
{
    __atomic_store_n(&before->is_left_alone, true, __ATOMIC_RELEASE);
}

/* A thread that has just ended has nothing to be given back. */
static int as_result(int error)
{
    return !error ? 1 : error == -ESRCH ? 0 : error;
}

/* Gives the main thread its policy back, if it has what only a member gets. Returns as member_before_give_back. */
static int give_policy_back(const struct member_before *before)
{
    const pid_t main = before->main.thread;
    struct thread_ordinary ordinary;
    struct thread_policy now;
    if (__atomic_load_n(&before->is_left_alone, __ATOMIC_ACQUIRE) || thread_policy_get(main, &now))
        return 0;
    const bool is_first = now.kind == THREAD_FIFO && now.priority == before->priority;
    const bool is_last = !thread_ordinary_get(main, &ordinary) && ordinary.number == SCHED_IDLE;
    if (!is_first && !is_last)
        return 0;
    if (!may_change(before, before->main.process))
        return -EPERM;
    const int error = thread_ordinary_set(main, &before->policy);
    if (!error && is_first)
        timer_slack_set(main, before->timer_slack_ns); /* SCHED_FIFO has taken it away */
    return as_result(error);
}

/* Lets a thread run where it might, unless somebody else has set its CPUs meanwhile. Returns as member_before_give_back. */
static int give_cpus_back(const struct member_before *before, const struct thread_before *one)
{
    const pid_t thread = one->thread.thread;
    if (!is_same(&one->thread) || !is_confined(thread, before->cpu))
        return 0;
    if (!may_change(before, one->thread.process))
        return -EPERM;
    return as_result(sched_setaffinity(thread, sizeof one->cpus, &one->cpus) ? -errno : 0);
}

static bool is_listed(const struct member_before *before, pid_t thread)
{
    for (int i = 0; i < before->threads; i++)
        if (before->thread[i].thread.thread == thread)
            return true;
    return false;
}

/*
 * The policy that a thread would have inherited. Under SCHED_FIFO a child begins with SCHED_OTHER and without the nice value, and
 * SCHED_IDLE is inherited; any other policy is the child's own.
 */
static bool give_policy_to_heir(const struct member_before *before, pid_t thread)
{
    const struct thread_ordinary inherited = {.number = before->policy.number, .slice_ns = before->policy.slice_ns};
    struct thread_ordinary now;
    if (thread_ordinary_get(thread, &now) || now.number == SCHED_BATCH)
        return false;
    const bool has_lost_nice = before->nice && getpriority(PRIO_PROCESS, (id_t)thread) == 0;
    const bool is_nice_again = has_lost_nice && !setpriority(PRIO_PROCESS, (id_t)thread, before->nice);
    return now.number == inherited.number ? is_nice_again : !thread_ordinary_set(thread, &inherited) || is_nice_again;
}

/* Of a thread that has begun since the join. Returns true if it had inherited something. */
static bool give_heir_back(const struct member_before *before, pid_t thread)
{
    const bool is_changed = give_policy_to_heir(before, thread);
    if (is_only(&before->cpus, before->cpu) || !is_confined(thread, before->cpu))
        return is_changed;
    return !sched_setaffinity(thread, sizeof before->cpus, &before->cpus) || is_changed;
}

/* Children that began before the join have inherited nothing, and neither have theirs. */
static void strike_out(pid_t elder, pid_t *processes, int count)
{
    pid_t family[FAMILY_MAX];
    const int members = thread_list_family(elder, family, FAMILY_MAX);
    for (int i = 0; i < members; i++)
        for (int k = 0; k < count; k++)
            if (processes[k] == family[i])
                processes[k] = 0;
}

static bool began_after_join(const struct member_before *before, pid_t process, pid_t thread)
{
    struct thread_ref ref;
    return !refer(&ref, process, thread) && ref.started_ticks >= before->joined_ticks;
}

static bool give_heirs_back(const struct member_before *before)
{
    pid_t processes[FAMILY_MAX], threads[MEMBER_THREADS];
    bool is_changed = false;
    const int family = thread_list_family(before->main.process, processes, FAMILY_MAX);
    for (int i = 1; i < family; i++)
        if (processes[i] && !began_after_join(before, processes[i], processes[i]))
            strike_out(processes[i], processes, family);
    for (int i = 0; i < family; i++) {
        const int count = processes[i] && may_change(before, processes[i]) ? thread_list(processes[i], threads, MEMBER_THREADS) : 0;
        for (int k = 0; k < count; k++)
            if (!is_listed(before, threads[k]) && began_after_join(before, processes[i], threads[k]))
                is_changed |= give_heir_back(before, threads[k]);
    }
    return is_changed;
}

int member_before_give_back(const struct member_before *before)
{
    const int threads = __atomic_load_n(&before->threads, __ATOMIC_ACQUIRE);
    const bool is_there = is_same(&before->main);
    int result = is_there ? give_policy_back(before) : 0;
    for (int i = 0; i < threads; i++) {
        const int given = give_cpus_back(before, &before->thread[i]);
        if (given < 0 || !result)
            result = given;
    }
    for (int pass = 0; is_there && pass < PASSES && give_heirs_back(before); pass++)
        if (!result)
            result = 1;
    return result;
}
