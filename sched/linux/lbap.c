/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lbap.h"

#include "ns.h"

#include <time.h>

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ns_from_timespec(now);
}

static void report_laxity(struct lbap *lbap, int64_t at_ns)
{
    int64_t laxity_ns;
    if (lbap->is_reported || !lbap_process_laxity(&lbap->process, at_ns, &laxity_ns))
        return;
    lbap->is_reported = true;
    lbap_laxities_add(&lbap->laxities, laxity_ns);
    if (lbap->event)
        lbap->event(lbap->context, laxity_ns);
}

int lbap_init(struct lbap *lbap, const struct lbap_workload *workload)
{
    *lbap = (struct lbap){.event = NULL};
    return lbap_process_init(&lbap->process, workload);
}

struct lbap_verdict lbap_poll(struct lbap *lbap, int64_t size_bytes)
{
    const int64_t at_ns = now_ns();
    report_laxity(lbap, at_ns);
    return lbap_process_offer(&lbap->process, at_ns, size_bytes);
}

void lbap_accept(struct lbap *lbap, const struct lbap_verdict *verdict)
{
    lbap_process_accept(&lbap->process, verdict);
    lbap->is_reported = false;
}

int lbap_enforce(struct lbap *lbap, int64_t size_bytes, struct lbap_verdict *verdict)
{
    const struct lbap_verdict offered = lbap_poll(lbap, size_bytes);
    const struct timespec arrival = ns_to_timespec(offered.logical_arrival_ns);
    const int error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &arrival, NULL);
    if (error)
        return -error;
    lbap_accept(lbap, &offered);
    if (verdict)
        *verdict = offered;
    return offered.violates;
}
