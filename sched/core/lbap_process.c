/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lbap_process.h"

#include <errno.h>

int lbap_process_init(struct lbap_process *process, const struct lbap_workload *workload)
{
    if (workload->period_ns <= 0 || workload->size_max_bytes < 0 || workload->workahead_max < 0 || workload->delay_ns < 0)
        return -EINVAL;
    *process = (struct lbap_process){.workload = *workload};
    if (!process->workload.delay_ns)
        process->workload.delay_ns = workload->period_ns;
    return 0;
}

/* What lies beyond 2^63 ns, 292 years, counts as just then. None is negative. */
static int64_t sum(int64_t a, int64_t b)
{
    int64_t ret;
    return __builtin_add_overflow(a, b, &ret) ? INT64_MAX : ret;
}

static int64_t product(int64_t a, int64_t b)
{
    int64_t ret;
    return __builtin_mul_overflow(a, b, &ret) ? INT64_MAX : ret;
}

struct lbap_verdict lbap_process_offer(const struct lbap_process *process, int64_t arrival_ns, int64_t size_bytes)
{
    const struct lbap_workload *const workload = &process->workload;
    struct lbap_verdict verdict = {.logical_arrival_ns = arrival_ns};
    if (process->has_packet && sum(process->logical_arrival_ns, workload->period_ns) > arrival_ns)
        verdict.logical_arrival_ns = sum(process->logical_arrival_ns, workload->period_ns);
    const int64_t ahead_ns = verdict.logical_arrival_ns - arrival_ns;
    verdict.deadline_ns = sum(verdict.logical_arrival_ns, workload->delay_ns);
    verdict.violates = size_bytes > workload->size_max_bytes || ahead_ns > product(workload->workahead_max, workload->period_ns);
    return verdict;
}

void lbap_process_accept(struct lbap_process *process, const struct lbap_verdict *verdict)
{
    process->has_packet = true;
    process->logical_arrival_ns = verdict->logical_arrival_ns;
    process->deadline_ns = verdict->deadline_ns;
}

bool lbap_process_laxity(const struct lbap_process *process, int64_t now_ns, int64_t *laxity_ns)
{
    if (process->has_packet)
        *laxity_ns = process->deadline_ns - now_ns;
    return process->has_packet;
}

void lbap_laxities_add(struct lbap_laxities *laxities, int64_t laxity_ns)
{
    if (!laxities->count || laxity_ns < laxities->least_ns)
        laxities->least_ns = laxity_ns;
    if (!laxities->count || laxity_ns > laxities->most_ns)
        laxities->most_ns = laxity_ns;
    laxities->violations += laxity_ns < 0;
    laxities->count++;
}
