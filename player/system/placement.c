/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement.h"

#include "log.h"
#include "ns.h"
#include "policy_refusal.h"
#include "rt_limit.h"
#include "thread_list.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The slice of a thread that only presents, where it competes with the decode thread under other. Linux takes 0.1 ms at
 * least. Beside one busy program, 1080p pictures were shown 2.2 +- 0.6 to 2.5 +- 1.2 ms late, with the kernel's own slice
 * 3.5 +- 2.2 to 3.8 +- 1.9 ms. docs/whole-machine.md has more programs, and what did not help beyond it.
 */
static const int64_t presenting_slice_ns = 100 * NS_PER_US;

/* A reservation that is not admitted is asked for again so often, and so much later. */
enum { PATIENT_TRIES = 3 };
static const int64_t pause_max_ns = 200 * NS_PER_MS;

/* Of a thread that decodes ahead beside rate-monotonic programs: below the bands of rm_levels.h. */
enum { ahead_priority = 10 };

static bool is_asked_for(const struct placement *placement)
{
    return placement->has_policy || placement->cpu >= 0;
}

/* Writes the set into text as the kernel does ("0-2,5"), and returns text. */
static const char *spell_cpus(const cpu_set_t *set, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (int cpu = 0; cpu < CPU_SETSIZE && length + 12 < size; cpu++) {
        if (!CPU_ISSET(cpu, set))
            continue;
        const int first = cpu;
        while (cpu + 1 < CPU_SETSIZE && CPU_ISSET(cpu + 1, set))
            cpu++;
        length += (size_t)sprintf(text + length, first == cpu ? "%s%d" : "%s%d-%d", length ? "," : "", first, cpu);
    }
    return text;
}

static cpu_set_t only(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return set;
}

/* Returns the given CPUs without this one. If no CPU is left, returns all other CPUs of the machine. */
static cpu_set_t all_but(int cpu, const cpu_set_t *given)
{
    cpu_set_t set = *given;
    CPU_CLR(cpu, &set);
    if (CPU_COUNT(&set) > 0)
        return set;
    for (int other = 0; other < CPU_SETSIZE; other++)
        if (other != cpu)
            CPU_SET(other, &set);
    return set;
}

/* A limit of real-time CPU time that the session has set would end the player in the middle of the film. */
static void lift_rt_limit(const struct placement *placement)
{
    const enum thread_policy_kind kind = placement->policy.kind;
    char text[RT_LIMIT_TEXT_SIZE];
    int64_t limit_us;
    if (!placement->has_policy || (kind != THREAD_FIFO && kind != THREAD_RR))
        return;
    const enum rt_limit found = rt_limit_lift(0, &limit_us);
    if (found != RT_LIMIT_NONE)
        log_note("%s", rt_limit_text(found, getpid(), "dlex-play", limit_us, text));
}

int placement_prepare(struct placement *placement)
{
    if (!is_asked_for(placement))
        return 0;
    lift_rt_limit(placement);
    setenv("SDL_RENDER_DRIVER", "software", 0);
    if (placement->cpu < 0)
        return 0;
    cpu_set_t given = {0};
    const cpu_set_t wanted = only(placement->cpu);
    if (sched_getaffinity(0, sizeof given, &given) || sched_setaffinity(0, sizeof wanted, &wanted)) {
        const int ret = -errno;
        char cpus[64];
        log_error("--cpu=%d cannot be used: %s; choose one of %s", placement->cpu,
                  ret == -EINVAL ? "there is no such CPU, or this process may not use it" : strerror(-ret),
                  spell_cpus(&given, cpus, sizeof cpus));
        return ret;
    }
    sched_setaffinity(0, sizeof given, &given);
    placement->others = all_but(placement->cpu, &given);
    return 0;
}

/* Reads this process's group in the unified hierarchy ("/dlex-bench-cpu1"); "" if there is none, or only the root. */
static void read_group(char group[PATH_MAX])
{
    char line[PATH_MAX];
    FILE *const groups = fopen("/proc/self/cgroup", "r");
    group[0] = '\0';
    if (!groups)
        return;
    while (fgets(line, sizeof line, groups))
        if (!strncmp(line, "0::/", 4) && line[4] != '\n') {
            line[strcspn(line, "\n")] = '\0';
            strcpy(group, line + 3);
        }
    fclose(groups);
}

/* Moves a thread to the parent group. If the CPU is a partition, the threads of its group may not run on other CPUs. */
static void leave_group(pid_t thread)
{
    char group[PATH_MAX];
    char path[PATH_MAX + 64];
    read_group(group);
    if (!group[0])
        return;
    *strrchr(group, '/') = '\0';
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/cgroup.threads", group);
    FILE *const members = fopen(path, "w");
    if (!members)
        return;
    fprintf(members, "%d", (int)thread);
    fclose(members);
}

static int place_other(const struct placement *placement, struct placement_facts *facts, pid_t thread)
{
    (void)facts;
    static const struct thread_policy other = {.kind = THREAD_OTHER};
    thread_policy_set(thread, &other);
    if (placement->cpu < 0 || !sched_setaffinity(thread, sizeof placement->others, &placement->others))
        return 0;
    leave_group(thread);
    sched_setaffinity(thread, sizeof placement->others, &placement->others); /* fails if there is only one CPU */
    return 0;
}

static int note_thread(const struct placement *placement, struct placement_facts *facts, pid_t thread)
{
    (void)placement;
    struct thread_policy policy;
    cpu_set_t cpus;
    if (facts->thread_count == PLACEMENT_THREADS_MAX || thread_policy_get(thread, &policy) ||
        sched_getaffinity(thread, sizeof cpus, &cpus))
        return 0;
    struct thread_facts *const fact = &facts->threads[facts->thread_count++];
    thread_list_name(getpid(), thread, fact->name);
    thread_role_text(thread_role_of(thread), fact->roles);
    thread_policy_text(&policy, fact->policy);
    fact->slice_ns = policy.kind == THREAD_OTHER ? policy.runtime_ns : 0;
    spell_cpus(&cpus, fact->cpus, sizeof fact->cpus);
    return 0;
}

/* Calls visit for every playing thread, or for every other one, until a call returns < 0, and returns the last result. */
static int each_thread(bool playing, const struct placement *placement, struct placement_facts *facts,
                       int (*visit)(const struct placement *placement, struct placement_facts *facts, pid_t thread))
{
    DIR *const threads = opendir("/proc/self/task");
    int ret = 0;
    if (!threads)
        return 0;
    for (const struct dirent *entry; ret >= 0 && (entry = readdir(threads));) {
        const pid_t thread = (pid_t)atoi(entry->d_name);
        if (thread > 0 && playing == !!(thread_role_of(thread) & PLACEMENT_ROLES))
            ret = visit(placement, facts, thread);
    }
    closedir(threads);
    return ret;
}

/* Names what was asked for, of which each thread has a part. */
static void explain(const struct placement *placement, int ret)
{
    const struct thread_policy *const policy = &placement->policy;
    char text[THREAD_POLICY_TEXT_SIZE];
    policy_refusal_log(placement->rate.is_asked ? "rm" : thread_policy_text(policy, text), policy->kind, ret);
}

/*
 * Returns the thread's part of the requested policy. If one thread decodes and presents, that is all of it. Otherwise
 * the presenting thread goes first, because it is short and must be in time: it has the higher priority, or a part of the
 * budget for itself. The two parts are never more than what was requested.
 */
static struct thread_policy part_for(const struct thread_policy *whole, unsigned roles, int64_t presenting_ns)
{
    struct thread_policy part = *whole;
    const bool decodes = roles & ROLE_DECODE;
    if (decodes && roles & ROLE_PRESENT)
        return part;
    if (whole->kind == THREAD_OTHER) {
        part.runtime_ns = decodes ? 0 : presenting_slice_ns;
    } else if (whole->kind == THREAD_DEADLINE) {
        part.runtime_ns = decodes ? whole->runtime_ns - presenting_ns : presenting_ns;
    } else if (decodes && part.priority > 1) {
        part.priority--;
    }
    return part;
}

int placement_join(const struct placement *placement, struct placement_facts *facts, int64_t frame_ns)
{
    if (!placement->rate.is_asked || facts->has_joined)
        return 0;
    facts->has_joined = true;
    return rate_priority_join(&placement->rate, frame_ns);
}

/* Returns the thread's policy if the registry gives the priority. */
static struct thread_policy rate_part_for(unsigned roles)
{
    return (struct thread_policy){
        .kind = THREAD_FIFO, .priority = roles & ROLE_PRESENT ? rate_priority_level() : ahead_priority,
    };
}

/* The kernel counts a reservation that was given back up to the end of its period: that of the file before may still count. */
static int set_policy_patiently(pid_t thread, const struct thread_policy *policy)
{
    const struct timespec pause = ns_to_timespec(policy->period_ns < pause_max_ns ? policy->period_ns : pause_max_ns);
    int ret = thread_policy_set(thread, policy);
    for (int i = 0; ret == -EBUSY && i < PATIENT_TRIES; i++) {
        nanosleep(&pause, NULL);
        ret = thread_policy_set(thread, policy);
    }
    return ret;
}

static int place_playing(const struct placement *placement, struct placement_facts *facts, pid_t thread)
{
    const unsigned roles = thread_role_of(thread);
    const struct thread_policy policy =
        placement->rate.is_asked ? rate_part_for(roles) : part_for(&placement->policy, roles, facts->presenting_ns);
    if (placement->cpu >= 0) {
        const cpu_set_t wanted = only(placement->cpu);
        if (sched_setaffinity(thread, sizeof wanted, &wanted)) {
            const int ret = -errno;
            if (ret == -ESRCH)
                return 0; /* the thread has ended meanwhile */
            log_error("--cpu=%d is no longer available: %s; choose another CPU", placement->cpu, strerror(-ret));
            return ret;
        }
    }
    if (!placement->has_policy) {
        if (policy.runtime_ns && sched_getscheduler(thread) == SCHED_OTHER)
            thread_policy_set(thread, &policy);
        return 0;
    }
    const int ret = set_policy_patiently(thread, &policy);
    if (ret == -ESRCH)
        return 0;
    if (ret)
        explain(placement, ret);
    return ret;
}

static int release(const struct placement *placement, struct placement_facts *facts, pid_t thread)
{
    (void)facts;
    static const struct thread_policy other = {.kind = THREAD_OTHER};
    if (placement->has_policy)
        thread_policy_set(thread, &other);
    if (placement->cpu >= 0)
        sched_setaffinity(thread, sizeof placement->others, &placement->others);
    return 0;
}

void placement_leave(const struct placement *placement)
{
    each_thread(true, placement, NULL, release);
}

static void note_threads(const struct placement *placement, struct placement_facts *facts)
{
    facts->thread_count = 0;
    facts->is_changed = false;
    each_thread(true, placement, facts, note_thread);
    each_thread(false, placement, facts, note_thread);
}

/* Sets the thread's part of a reservation if the thread has more. */
static int shrink(const struct placement *placement, struct placement_facts *facts, pid_t thread)
{
    const struct thread_policy part = part_for(&placement->policy, thread_role_of(thread), facts->presenting_ns);
    struct thread_policy now;
    if (!thread_policy_get(thread, &now) && now.kind == THREAD_DEADLINE && now.runtime_ns > part.runtime_ns)
        thread_policy_set(thread, &part);
    return 0;
}

int placement_apply(const struct placement *placement, struct placement_facts *facts)
{
    int ret;
    if (placement_is_reservation(placement))
        each_thread(true, placement, facts, shrink); /* the file before may have divided it in another way */
    if (is_asked_for(placement))
        each_thread(false, placement, facts, place_other);
    rate_priority_follow();
    do /* again if it was moved before it had the priority, because a newcomer moves only what has one */
        ret = each_thread(true, placement, facts, place_playing);
    while (!ret && rate_priority_follow());
    if (!ret)
        note_threads(placement, facts);
    return ret;
}

static int set_rate_part(const struct placement *placement, struct placement_facts *facts, pid_t thread)
{
    (void)placement;
    (void)facts;
    const struct thread_policy part = rate_part_for(thread_role_of(thread));
    const int ret = thread_policy_set(thread, &part);
    return ret == -ESRCH ? 0 : ret;
}

/* Sets the priority that the registry gives, and again if a newcomer has moved this program before it had that. */
static int set_rate_parts(const struct placement *placement, struct placement_facts *facts)
{
    int ret;
    do
        ret = each_thread(true, placement, facts, set_rate_part);
    while (!ret && rate_priority_follow());
    return ret;
}

bool placement_learn_cost(const struct placement *placement, struct placement_facts *facts, const struct rate_cost *cost)
{
    const int before = rate_priority_level();
    const bool is_entered = rate_priority_learn(&placement->rate, cost);
    if (rate_priority_level() == before)
        return is_entered;
    facts->is_changed = true;
    const int ret = set_rate_parts(placement, facts);
    if (ret) {
        rate_priority_forgo(ret);
        set_rate_parts(placement, facts);
    }
    return is_entered;
}

void placement_note_again(const struct placement *placement, struct placement_facts *facts)
{
    if (facts->is_changed)
        note_threads(placement, facts);
}

bool placement_is_reservation(const struct placement *placement)
{
    return placement->has_policy && !placement->rate.is_asked && placement->policy.kind == THREAD_DEADLINE;
}

bool placement_has_priority(const struct placement *placement)
{
    const enum thread_policy_kind kind = placement->policy.kind;
    return placement->rate.is_asked || (placement->has_policy && (kind == THREAD_FIFO || kind == THREAD_RR));
}

static int set_part(const struct placement *placement, struct placement_facts *facts, pid_t thread)
{
    const struct thread_policy part = part_for(&placement->policy, thread_role_of(thread), facts->presenting_ns);
    const int ret = thread_policy_set(thread, &part);
    return ret == -ESRCH ? 0 : ret;
}

/* All parts shrink first, and then grow: so the kernel counts no more than before at any time. */
static int set_parts(const struct placement *placement, struct placement_facts *facts)
{
    each_thread(true, placement, facts, shrink);
    return each_thread(true, placement, facts, set_part);
}

int placement_divide(const struct placement *placement, struct placement_facts *facts, int64_t presenting_ns)
{
    const int64_t before_ns = facts->presenting_ns;
    facts->presenting_ns = presenting_ns;
    facts->is_changed = true;
    const int ret = set_parts(placement, facts);
    if (ret) {
        facts->presenting_ns = before_ns;
        set_parts(placement, facts);
    }
    return ret;
}
