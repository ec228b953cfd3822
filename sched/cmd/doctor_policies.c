/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "doctor_policies.h"

#include "ns.h"
#include "rm_levels.h"
#include "thread_policy.h"

#include <errno.h>
#include <linux/sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WITH_DYNAMIC_VALUES = 1 /* SCHED_GETATTR_FLAG_DL_DYNAMIC; headers before Linux 7 do not have it */ };

static const struct thread_policy small = {.kind = THREAD_DEADLINE, .runtime_ns = NS_PER_MS, .period_ns = 100 * NS_PER_MS};

/* The second version of struct sched_attr, declared here for the reason that thread_policy.c gives. */
struct attributes {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns;
    uint64_t deadline_ns;
    uint64_t period_ns;
    uint32_t clamped_min;
    uint32_t clamped_max;
};

static int read_what_is_left(const void *context)
{
    (void)context;
    struct attributes attributes = {.size = 0};
    const int error = thread_policy_set(0, &small);
    if (error)
        return error;
    return syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, WITH_DYNAMIC_VALUES) ? -errno : 0;
}

struct finding doctor_check_budget_left(void)
{
    const int error = doctor_in_child(read_what_is_left, NULL);
    if (error == -EINVAL)
        return doctor_finding(false, "this kernel does not say what is left of a budget, kernels such as Linux 7.3 do; tune infers it "
                              "from context switches");
    return error ? doctor_no_reservation(error) : doctor_finding(true, "the kernel says what is left of a budget");
}

static int ask_for_overruns(const void *context)
{
    (void)context;
    const struct attributes attributes = {
        .size = sizeof attributes, .policy = SCHED_DEADLINE, .flags = SCHED_FLAG_RESET_ON_FORK | SCHED_FLAG_DL_OVERRUN,
        .runtime_ns = (uint64_t)small.runtime_ns, .deadline_ns = (uint64_t)small.period_ns, .period_ns = (uint64_t)small.period_ns,
    };
    return syscall(SYS_sched_setattr, 0, &attributes, 0) ? -errno : 0;
}

struct finding doctor_check_overruns(void)
{
    const int error = doctor_in_child(ask_for_overruns, NULL);
    if (error)
        return doctor_no_reservation(error);
    return doctor_finding(true, "a program can ask for a signal when its budget runs out; dlex never does it for others, which it would end");
}

/* Starts a process under a reservation. Returns 0 if that has an ordinary policy. */
static int start_under_reservation(const void *context)
{
    (void)context;
    struct thread_policy begun;
    int status;
    const int error = thread_policy_set(0, &small);
    if (error)
        return error;
    const pid_t child = fork();
    if (child < 0)
        return -errno;
    if (!child)
        _exit(thread_policy_get(0, &begun) || begun.kind != THREAD_OTHER);
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ECHILD;
}

struct finding doctor_check_starting(void)
{
    const int error = doctor_in_child(start_under_reservation, NULL);
    if (error)
        return doctor_no_reservation(error);
    return doctor_finding(true, "a thread with a reservation can start others, which begin under an ordinary policy");
}

static int raise_limit(const void *context)
{
    (void)context;
    const struct rlimit wanted = {.rlim_cur = RM_LEVEL_MAX, .rlim_max = RM_LEVEL_MAX};
    return setrlimit(RLIMIT_RTPRIO, &wanted) ? -errno : 0;
}

struct finding doctor_check_priority_limit(void)
{
    struct rlimit limit;
    struct finding found = {.is_good = true};
    const bool may_raise = !doctor_in_child(raise_limit, NULL);
    if (getrlimit(RLIMIT_RTPRIO, &limit))
        return doctor_finding(false, strerror(errno));
    const unsigned long long now = limit.rlim_cur;
    if (limit.rlim_cur >= (rlim_t)rm_band_guaranteed.highest)
        snprintf(found.text, sizeof found.text, "%llu, which is enough for every command", now);
    else if (thread_policy_is_privileged())
        snprintf(found.text, sizeof found.text, "%llu, which does not count with CAP_SYS_NICE%s", now,
                 may_raise ? "" : "; it cannot be raised here, because CAP_SYS_RESOURCE is missing");
    else if (may_raise || limit.rlim_max >= (rlim_t)rm_band_guaranteed.highest)
        snprintf(found.text, sizeof found.text, "%llu, and `ulimit -r %d` raises it", now, rm_band_guaranteed.highest);
    else {
        found.is_good = false;
        snprintf(found.text, sizeof found.text, "%llu; a line `@audio - rtprio 60` in /etc/security/limits.conf raises it for the group "
                 "audio from the next login on, `docker run --ulimit rtprio=60` in a container", now);
    }
    return found;
}

static int clamp(const void *context)
{
    (void)context;
    const struct attributes attributes = {
        .size = sizeof attributes, .flags = SCHED_FLAG_KEEP_ALL | SCHED_FLAG_UTIL_CLAMP_MIN, .clamped_min = 0,
    };
    return syscall(SYS_sched_setattr, 0, &attributes, 0) ? -errno : 0;
}

struct finding doctor_check_clamping(void)
{
    const int error = doctor_in_child(clamp, NULL);
    if (!error)
        return doctor_finding(true, "the kernel accepts a least CPU speed for a thread; dlex does not set one");
    return doctor_finding(false, "this kernel accepts no least CPU speed for a thread (CONFIG_UCLAMP_TASK); dlex does not need it");
}
