/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "thread_policy.h"

#include "ns.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

const size_t thread_policy_size = sizeof(struct thread_policy);

enum { NUMBER_OF_DEADLINE = 6, FLAG_RESET_ON_FORK = 1, FLAG_RECLAIM = 2, PRIORITY_MAX = 99 };

/* The kernel's default limits. */
static const int64_t runtime_min_ns = 1024;
static const int64_t period_min_ns = 100 * 1000;
static const int64_t period_max_ns = INT64_C(1) << 32;

/* The least runtime, in a period so long that the kernel counts 0 of 2^20 parts of a CPU. */
static const int64_t parting_runtime_ns = 1024;
static const int64_t parting_period_ns = 1100 * NS_PER_MS;

static const char *const kind_names[] = {"other", "fifo", "rr", "deadline"};
static const uint32_t kind_numbers[] = {SCHED_OTHER, SCHED_FIFO, SCHED_RR, NUMBER_OF_DEADLINE};

/*
 * The first version of struct sched_attr. It is declared here because the kernel's header and a recent <sched.h>
 * conflict.
 */
struct attributes {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns;
    uint64_t deadline_ns;
    uint64_t period_ns;
};

/*
 * Parses a number of ms that `end` follows, and moves *text past `end`. Returns ns, or -1 if there is no such number.
 */
static int64_t parse_ms(const char **text, char end)
{
    if (!isdigit((unsigned char)**text))
        return -1;
    char *rest;
    const double ms = strtod(*text, &rest);
    if (*rest != end || ms * (double)NS_PER_MS > (double)period_max_ns)
        return -1;
    *text = rest + 1;
    return (int64_t)(ms * (double)NS_PER_MS + 0.5);
}

static int parse_reservation(struct thread_policy *policy, const char *text)
{
    policy->runtime_ns = parse_ms(&text, '/');
    policy->period_ns = policy->runtime_ns < 0 ? -1 : parse_ms(&text, '\0');
    const bool fits = policy->runtime_ns >= runtime_min_ns && policy->runtime_ns <= policy->period_ns &&
                      policy->period_ns >= period_min_ns;
    return fits ? 0 : -EINVAL;
}

static int parse_priority(struct thread_policy *policy, const char *text)
{
    char *rest;
    const long priority = isdigit((unsigned char)*text) ? strtol(text, &rest, 10) : 0;
    if (priority < 1 || priority > PRIORITY_MAX || *rest)
        return -EINVAL;
    policy->priority = (int)priority;
    return 0;
}

int thread_policy_parse(struct thread_policy *policy, const char *text)
{
    const size_t length = strcspn(text, ":");
    *policy = (struct thread_policy){.kind = THREAD_OTHER};
    if (!strcmp(text, kind_names[THREAD_OTHER]))
        return 0;
    for (int kind = THREAD_FIFO; kind <= THREAD_DEADLINE; kind++) {
        if (strlen(kind_names[kind]) != length || strncmp(text, kind_names[kind], length) || !text[length])
            continue;
        policy->kind = (enum thread_policy_kind)kind;
        const char *const value = text + length + 1;
        return kind == THREAD_DEADLINE ? parse_reservation(policy, value) : parse_priority(policy, value);
    }
    return -EINVAL;
}

const char *thread_policy_text(const struct thread_policy *policy, char text[THREAD_POLICY_TEXT_SIZE])
{
    const char *const name = kind_names[policy->kind];
    if (policy->kind == THREAD_DEADLINE)
        snprintf(text, THREAD_POLICY_TEXT_SIZE, "%s:%.10g/%.10g", name, ns_to_ms(policy->runtime_ns),
                 ns_to_ms(policy->period_ns));
    else if (policy->kind == THREAD_OTHER)
        snprintf(text, THREAD_POLICY_TEXT_SIZE, "%s", name);
    else
        snprintf(text, THREAD_POLICY_TEXT_SIZE, "%s:%d", name, policy->priority);
    return text;
}

static int get_attributes(pid_t thread, struct attributes *attributes)
{
    *attributes = (struct attributes){0};
    return syscall(SYS_sched_getattr, thread, attributes, sizeof *attributes, 0) ? -errno : 0;
}

/* Returns the letter of a thread's state, as R and S; 0 if it is not known. */
static char state_of(pid_t thread)
{
    char path[32], text[256];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)thread);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    text[size > 0 ? size : 0] = '\0';
    const char *const state = strrchr(text, ')'); /* after the name */
    return state && state[1] == ' ' ? state[2] : '\0';
}

bool thread_is_runnable(pid_t thread)
{
    return state_of(thread) == 'R';
}

/*
 * Prepares a sleeping thread for another policy than a reservation. When a thread leaves SCHED_DEADLINE while it sleeps, and
 * what it used of its last period has been paid for, the kernel (seen in 6.18) never counts its share as free again, although
 * nobody has it. So it first gets a share of 0.
 *
 * A runnable thread must not get that. If its budget has run out, it still has to pay for what it used too much. With a share of 0
 * that takes many minutes, and the kernel would not run the thread under a reservation that it is given meanwhile.
 */
static void give_share_back(pid_t thread)
{
    struct attributes attributes;
    if (!thread || thread == gettid() || get_attributes(thread, &attributes) || attributes.policy != NUMBER_OF_DEADLINE)
        return;
    const char state = state_of(thread);
    if (!state || state == 'R')
        return;
    attributes.size = sizeof attributes;
    attributes.runtime_ns = (uint64_t)parting_runtime_ns;
    attributes.deadline_ns = attributes.period_ns = (uint64_t)parting_period_ns;
    (void)syscall(SYS_sched_setattr, thread, &attributes, 0); /* refused without CAP_SYS_NICE */
}

bool thread_policy_is_parting(const struct thread_policy *policy)
{
    return policy->kind == THREAD_DEADLINE && policy->runtime_ns == parting_runtime_ns && policy->period_ns == parting_period_ns;
}

int thread_policy_set(pid_t thread, const struct thread_policy *policy)
{
    const struct attributes attributes = {
        .size = sizeof attributes,
        .policy = kind_numbers[policy->kind],
        .flags = FLAG_RESET_ON_FORK | (policy->reclaims ? FLAG_RECLAIM : 0),
        .nice = policy->kind == THREAD_OTHER ? getpriority(PRIO_PROCESS, (id_t)thread) : 0,
        .priority = (uint32_t)policy->priority,
        .runtime_ns = (uint64_t)policy->runtime_ns,
        .deadline_ns = (uint64_t)policy->period_ns,
        .period_ns = (uint64_t)policy->period_ns,
    };
    if (policy->kind != THREAD_DEADLINE)
        give_share_back(thread);
    return syscall(SYS_sched_setattr, thread, &attributes, 0) ? -errno : 0;
}

bool thread_policy_is_privileged(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};
    return !syscall(SYS_capget, &header, sets) && sets[CAP_TO_INDEX(CAP_SYS_NICE)].effective & CAP_TO_MASK(CAP_SYS_NICE);
}

int thread_policy_get(pid_t thread, struct thread_policy *policy)
{
    struct attributes attributes;
    const int error = get_attributes(thread, &attributes);
    if (error)
        return error;
    *policy = (struct thread_policy){.kind = THREAD_OTHER};
    for (int kind = THREAD_FIFO; kind <= THREAD_DEADLINE; kind++)
        if (attributes.policy == kind_numbers[kind])
            policy->kind = (enum thread_policy_kind)kind;
    policy->priority = (int)attributes.priority;
    if (policy->kind == THREAD_DEADLINE || attributes.policy == SCHED_OTHER)
        policy->runtime_ns = (int64_t)attributes.runtime_ns;
    if (policy->kind == THREAD_DEADLINE)
        policy->period_ns = (int64_t)attributes.period_ns;
    return 0;
}

static bool is_ordinary(uint32_t number)
{
    return number == SCHED_OTHER || number == SCHED_BATCH || number == SCHED_IDLE;
}

/*
 * Returns the slice that the kernel gives a thread by itself, as far as we can know: ours, which nobody has set. The kernel does not
 * say it of a real-time thread, so it is remembered from the time before.
 */
static uint64_t usual_slice_ns(void)
{
    static uint64_t usual; /* atomic; all threads store the same */
    struct attributes own;
    if (!get_attributes(0, &own) && is_ordinary(own.policy))
        __atomic_store_n(&usual, own.runtime_ns, __ATOMIC_RELAXED);
    return __atomic_load_n(&usual, __ATOMIC_RELAXED);
}

int thread_ordinary_get(pid_t thread, struct thread_ordinary *ordinary)
{
    struct attributes attributes;
    const int error = get_attributes(thread, &attributes);
    if (error || !is_ordinary(attributes.policy))
        return error ? error : -EINVAL;
    *ordinary = (struct thread_ordinary){
        .number = (int)attributes.policy,
        .resets_on_fork = attributes.flags & FLAG_RESET_ON_FORK,
        .slice_ns = attributes.runtime_ns == usual_slice_ns() ? 0 : (int64_t)attributes.runtime_ns,
    };
    return 0;
}

int thread_ordinary_set(pid_t thread, const struct thread_ordinary *ordinary)
{
    struct attributes attributes = {
        .size = sizeof attributes,
        .policy = (uint32_t)ordinary->number,
        .flags = ordinary->resets_on_fork ? FLAG_RESET_ON_FORK : 0,
        .nice = getpriority(PRIO_PROCESS, (id_t)thread),
        .runtime_ns = (uint64_t)ordinary->slice_ns,
    };
    if (!is_ordinary(attributes.policy))
        return -EINVAL;
    give_share_back(thread);
    if (!syscall(SYS_sched_setattr, thread, &attributes, 0))
        return 0;
    if (errno != EPERM)
        return -errno;
    attributes.flags = FLAG_RESET_ON_FORK;
    return syscall(SYS_sched_setattr, thread, &attributes, 0) ? -errno : 0;
}
