/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A linear bounded arrival process (LBAP): the workload model of seed 004, section 3, which names its parameters and not its
 * formulas. Those are the usual ones:
 *
 *     l_0 = a_0,  l_i = max(a_i, l_(i-1) + 1/R)     logical arrival of packet i, which arrived at a_i
 *     D_i = l_i + delay                             its deadline; the delay is 1/R unless another one is given
 *     laxity = D_i - now                            < 0: the deadline is missed
 *
 * A packet violates the workload if it is larger than S, or more than W packets early: a_i < l_i - W/R. So at most R t + W
 * packets arrive in any interval of length t, and the one that begins it. The seed prints W as "maximum workload"; in the
 * model it is the workahead, and we take it so.
 *
 * No system call is made; time is an argument, in ns. The blocking call of the seed, which waits for the logical arrival, is
 *
 *     const struct lbap_verdict verdict = lbap_process_offer(&process, now_ns, size_bytes);
 *     ... sleep until verdict.logical_arrival_ns ...
 *     lbap_process_accept(&process, &verdict);
 *
 * and the call that does not block is the first line alone. An offer changes nothing.
 */
#ifndef SCHED_LBAP_PROCESS_H
#define SCHED_LBAP_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lbap_workload {
    int64_t size_max_bytes;   /* S */
    int64_t period_ns;        /* 1/R, > 0 */
    int64_t workahead_max;    /* W, packets; INT64_MAX: as many as you like */
    int64_t delay_ns;         /* from logical arrival to deadline; 0: one period */
};

struct lbap_process {
    struct lbap_workload workload;
    bool has_packet;              /* one was accepted; the next two fields are its */
    int64_t logical_arrival_ns;
    int64_t deadline_ns;
};

struct lbap_verdict {
    int64_t logical_arrival_ns;
    int64_t deadline_ns;
    bool violates;            /* is too large, or too early */
};

/* Begins without a packet. Returns 0, or -EINVAL if the period is not positive or another value is negative. */
int lbap_process_init(struct lbap_process *process, const struct lbap_workload *workload);

/* Returns when a packet that arrives at arrival_ns (>= 0) arrives logically, and whether accepting it violates the workload. */
struct lbap_verdict lbap_process_offer(const struct lbap_process *process, int64_t arrival_ns, int64_t size_bytes);

/* Accepts an offered packet, also one that violates. */
void lbap_process_accept(struct lbap_process *process, const struct lbap_verdict *verdict);

/*
 * The laxity event of a call: the seed's program calls for the next packet when it has processed the one before (Figure 3),
 * so its laxity at the call is that packet's deadline - now. Returns false if there is no such packet.
 */
bool lbap_process_laxity(const struct lbap_process *process, int64_t now_ns, int64_t *laxity_ns);

/*
 * Laxities of a run, as the seed's section 5 reports them. Their spread, maximum - minimum, is the jitter to compare with the
 * allowed skew of lip_sync.h. Begins as zero.
 */
struct lbap_laxities {
    int64_t count;
    int64_t violations; /* < 0 */
    int64_t least_ns;
    int64_t most_ns;
};

void lbap_laxities_add(struct lbap_laxities *laxities, int64_t laxity_ns);

#ifdef __cplusplus
}
#endif

#endif
