/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Time passes: ticks, delays, deadlines and the ends of instances. */
#include "pman_release.h"

#include <errno.h>

static void take_over_timing(struct pman_table *table)
{
    for (int i = 0; i < table->used; i++) {
        struct pman_process *const process = &table->process[i];
        if (process->has_next_timing)
            process->timing = process->next_timing;
        process->has_next_timing = 0;
    }
}

static bool is_due(const struct pman_process *process, int64_t tick)
{
    const struct pman_timing *const timing = &process->timing;
    return process->pid && timing->period && tick >= timing->phase && (tick - timing->phase) % timing->period == 0;
}

/* Returns the set of processes that are activated. */
static uint64_t mark_due(struct pman_table *table, int64_t tick, int64_t tick_ns)
{
    uint64_t marked = 0;
    for (int i = 0; i < table->used; i++) {
        struct pman_process *const process = &table->process[i];
        if (!is_due(process, tick))
            continue;
        if (pman_is_unfinished(process)) {
            process->skips++;
        } else {
            pman_activate(process, 2 * tick, tick_ns);
            marked |= pman_bit(i);
        }
    }
    return marked;
}

int pman_table_tick(struct pman_table *table, int64_t tick_ns, int64_t now_ns, struct pman_out *out)
{
    out->count = 0;
    take_over_timing(table);
    pman_find_misses(table, now_ns, out);
    const uint64_t marked = mark_due(table, table->ticks++, tick_ns);
    for (int i = 0; i < table->used; i++)
        if (marked & pman_bit(i))
            pman_block(table, i);
    pman_release_ready(table, now_ns, out);
    return 0;
}

int pman_table_timer(struct pman_table *table, int64_t now_ns, struct pman_out *out)
{
    out->count = 0;
    if (table->deadlines == PMAN_DEADLINES_TIMER)
        pman_find_misses(table, now_ns, out);
    pman_release_ready(table, now_ns, out);
    return 0;
}

/* Returns when this process needs pman_table_timer. It has missed its deadline one ns after it. */
static int64_t next_of(const struct pman_table *table, const struct pman_process *process)
{
    if (process->status == PMAN_WAITING)
        return process->earliest_ns;
    if (process->status == PMAN_RUNNING && table->deadlines == PMAN_DEADLINES_TIMER && process->deadline_at_ns != PMAN_NEVER)
        return process->deadline_at_ns + 1;
    return PMAN_NEVER;
}

int64_t pman_table_next_ns(const struct pman_table *table)
{
    int64_t next_ns = PMAN_NEVER;
    for (int i = 0; i < table->used; i++) {
        const int64_t of_process_ns = next_of(table, &table->process[i]);
        if (of_process_ns < next_ns)
            next_ns = of_process_ns;
    }
    return next_ns;
}

int pman_table_finish(struct pman_table *table, const char *name, int64_t now_ns, struct pman_out *out)
{
    out->count = 0;
    const int index = pman_table_find(table, name);
    if (index < 0)
        return index;
    if (table->process[index].status != PMAN_RUNNING)
        return -EALREADY;
    pman_find_miss(table, index, now_ns, out);
    pman_end_instance(table, index, PMAN_IDLE, now_ns);
    pman_release_ready(table, now_ns, out);
    return 0;
}
