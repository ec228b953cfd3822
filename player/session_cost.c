/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "session_cost.h"

#include "thread_cpu.h"

void session_cost_begin(struct session *session)
{
    session->cost_from_ns = thread_cpu_ns();
}

void session_cost_learn(struct session *session)
{
    const struct placement *const placement = &session->setup->options->placement;
    struct picture_cost_claim claim;
    if (!placement->rate.is_asked || session->clock.sync.untimed)
        return;
    const int64_t now_ns = thread_cpu_ns();
    picture_cost_add(&session->cost, now_ns - session->cost_from_ns);
    session->cost_from_ns = now_ns;
    if (!picture_cost_is_due(&session->cost, &claim))
        return;
    const struct rate_cost cost = {.mean_ns = claim.mean_ns, .longest_ns = claim.longest_ns};
    if (placement_learn_cost(placement, &session->placement, &cost))
        picture_cost_claimed(&session->cost, &claim);
}
