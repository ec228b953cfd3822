/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "learnt.h"

#include "ns.h"

static const double first_refusing_ns = 80.0 * NS_PER_US;
static const double refusals_averaged = 16;

void learnt_init(struct learnt *learnt)
{
    *learnt = (struct learnt){.refusing_ns = first_refusing_ns};
    cost_init(&learnt->costs);
    supply_init(&learnt->supply);
}

static void learn_whole(struct cost_model *costs, const struct decode_use *use, int64_t frame_duration_ns)
{
    if (use->degraded)
        cost_learn_degraded(costs, use->picture_class, use->size_bytes, use->cpu_ns, frame_duration_ns);
    else
        cost_learn(costs, use->picture_class, use->size_bytes, use->cpu_ns);
}

static void learn_cost(struct learnt *learnt, const struct decode_use *use, int64_t frame_duration_ns)
{
    switch (use->end) {
    case DECODE_WHOLE: learn_whole(&learnt->costs, use, frame_duration_ns); break;
    case DECODE_ABANDONED:
        cost_learn_at_least(&learnt->costs, use->picture_class, use->size_bytes, use->cpu_ns, frame_duration_ns);
        break;
    case DECODE_UNKNOWN: break;
    case DECODE_REFUSED: learnt->refusing_ns += ((double)use->cpu_ns - learnt->refusing_ns) / refusals_averaged; break;
    }
}

void learnt_add(struct learnt *learnt, const struct decode_use *use, int64_t frame_duration_ns)
{
    learn_cost(learnt, use, frame_duration_ns);
    if (!use->overlapped)
        learnt_add_supply(learnt, use->wall_ns + use->saved_ns, use->cpu_ns + use->presenting_ns);
    if (use->picture_class == CLASS_DROPPABLE && use->end != DECODE_UNKNOWN)
        learnt->droppable_refused = use->end == DECODE_REFUSED ? learnt->droppable_refused + 1 : 0;
}

void learnt_add_supply(struct learnt *learnt, int64_t wall_ns, int64_t cpu_ns)
{
    supply_learn(&learnt->supply, wall_ns, cpu_ns);
}

double learnt_wall_ns(const struct learnt *learnt, double cpu_ns)
{
    return cpu_ns / supply_rate(&learnt->supply);
}

double learnt_beside_ns(const struct learnt *learnt, int beside, double cpu_ns)
{
    return beside * learnt_wall_ns(learnt, cpu_ns);
}
