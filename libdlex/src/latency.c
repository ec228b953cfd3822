/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dlex/latency.h>

#include "histogram.h"
#include "thread.h"

enum kind { DEADLINE, WCET, TRIGGER, KINDS };

static const struct dlex_type *const types[KINDS] = {
    [DEADLINE] = &dlex_deadline_violation, [WCET] = &dlex_wcet_violation,
    [TRIGGER] = &dlex_trigger_violation,
};

/* The latencies of the whole process. Each thread adds one when one of its violations has reached its
 * block. */
static struct latencies {
    uint64_t delayed;
    struct histogram late;
} known[KINDS];

static enum kind kind_of(const struct dlex_type *violation)
{
    enum kind kind = DEADLINE;
    while (kind < TRIGGER && types[kind] != violation)
        kind++;
    return kind;
}

void dlex_latency_note(const struct dlex_violation *v)
{
    struct latencies *const l = &known[kind_of(v->type)];
    if (v->released_ns)
        __atomic_fetch_add(&l->delayed, 1, __ATOMIC_RELAXED);
    dlex_histogram_add(&l->late, v->caught_ns - v->deadline_ns);
}

/* How late deadlines are noticed says nothing of triggers, though their violation is a descendant of
 * that of deadlines. */
static bool counts_for(enum kind kind, const struct dlex_type *violation)
{
    const struct dlex_type *type = types[kind];
    if (kind == TRIGGER && violation == types[DEADLINE])
        return false;
    while (type && type != violation)
        type = type->parent;
    return type;
}

void dlex_latency_read(const struct dlex_type *violation, struct dlex_latency *out)
{
    struct histogram late = { 0 };
    uint64_t delayed = 0;
    for (int i = 0; i < KINDS; i++) {
        if (!counts_for(i, violation))
            continue;
        delayed += __atomic_load_n(&known[i].delayed, __ATOMIC_RELAXED);
        dlex_histogram_merge(&late, &known[i].late);
    }
    const struct histogram_summary s = dlex_histogram_summarise(&late);
    *out = (struct dlex_latency){
        .count = s.count, .delayed = delayed,
        .min_ns = s.min_ns, .max_ns = s.max_ns,
        .p50_ns = s.p50_ns, .p90_ns = s.p90_ns, .p99_ns = s.p99_ns,
        .mean_ns = s.mean_ns, .stddev_ns = s.stddev_ns,
    };
}

void dlex_latency_reset(void)
{
    for (int i = 0; i < KINDS; i++) {
        __atomic_store_n(&known[i].delayed, 0, __ATOMIC_RELAXED);
        dlex_histogram_clear(&known[i].late);
    }
}
