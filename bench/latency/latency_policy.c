/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "latency_policy.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PRIORITY = 50 };

/* The seed's 25 us of 50 us, in ms: the kernel takes no period below 100 us by default. */
enum { RUNTIME_NS = 25000000, PERIOD_NS = 50000000 };

#ifndef SCHED_DEADLINE
#define SCHED_DEADLINE 6
#endif

/* The kernel's struct sched_attr, which glibc before 2.41 does not declare. */
struct reservation {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns;
    uint64_t deadline_ns;
    uint64_t period_ns;
};

static int enter_fifo(void)
{
    const struct sched_param param = {.sched_priority = PRIORITY};
    return sched_setscheduler(0, SCHED_FIFO, &param) ? -errno : 0;
}

static int enter_deadline(void)
{
    const struct reservation reservation = {
        .size = sizeof(reservation),
        .policy = SCHED_DEADLINE,
        .runtime_ns = RUNTIME_NS,
        .deadline_ns = PERIOD_NS,
        .period_ns = PERIOD_NS,
    };
    return syscall(SYS_sched_setattr, 0, &reservation, 0) ? -errno : 0;
}

int latency_policy_enter(const char *name)
{
    if (!strcmp(name, "other"))
        return 0;
    if (!strcmp(name, "fifo"))
        return enter_fifo();
    if (!strcmp(name, "deadline"))
        return enter_deadline();
    return -EINVAL;
}
