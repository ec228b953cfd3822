/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For programs that process packets at a limited rate and call the scheduler themselves (seed 004, section 4): the workload is
 * declared once, and before each packet the program either waits until the packet's turn (enforce) or asks when that is
 * (poll). The first call after a packet reports that packet's laxity. Only code that uses more time than it declared can
 * disturb others, so the seed gives real-time priorities to approved programs only; sched_setscheduler(2) sets them.
 *
 *     struct lbap lbap;
 *     const struct lbap_workload workload = {.size_max_bytes = 65536, .period_ns = 40000000, .workahead_max = 1};
 *     if (lbap_init(&lbap, &workload) < 0)
 *         ...
 *     while ((packet = next_packet())) {
 *         lbap_enforce(&lbap, packet->size, NULL);
 *         process(packet);
 *     }
 *
 * The arithmetic is in lbap_process.h. Time is CLOCK_MONOTONIC. One thread per struct; nothing to free.
 */
#ifndef SCHED_LBAP_H
#define SCHED_LBAP_H

#include "lbap_process.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Called with each laxity, by the thread that calls lbap_enforce or lbap_poll. */
typedef void lbap_laxity_event(void *context, int64_t laxity_ns);

struct lbap {
    struct lbap_process process;
    struct lbap_laxities laxities; /* of all packets so far */
    lbap_laxity_event *event;      /* set it after lbap_init; NULL: none */
    void *context;
    bool is_reported;              /* the laxity of the last packet */
};

/* Returns 0, or -EINVAL as lbap_process_init does. */
int lbap_init(struct lbap *lbap, const struct lbap_workload *workload);

/*
 * Waits until the logical arrival of a packet that is there now, and accepts it. Returns 0; 1 if the packet violates the
 * workload (it is accepted all the same); or -EINTR if a signal interrupted the wait, with nothing accepted. *verdict becomes
 * the packet's logical arrival and deadline; it may be NULL.
 */
int lbap_enforce(struct lbap *lbap, int64_t size_bytes, struct lbap_verdict *verdict);

/* Returns the same without waiting or accepting. */
struct lbap_verdict lbap_poll(struct lbap *lbap, int64_t size_bytes);

/* Accepts a packet that was polled. */
void lbap_accept(struct lbap *lbap, const struct lbap_verdict *verdict);

#ifdef __cplusplus
}
#endif

#endif
