/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pman_release.h"

#include <assert.h>
#include <stddef.h>

bool pman_is_unfinished(const struct pman_process *process)
{
    return process->status == PMAN_BLOCKED || process->status == PMAN_WAITING || process->status == PMAN_RUNNING;
}

struct pman_action *pman_act(const struct pman_table *table, struct pman_out *out, enum pman_action_kind kind, int index)
{
    assert(out->count < PMAN_OUT_CAPACITY);
    const struct pman_process *const process = &table->process[index];
    struct pman_action *const action = &out->action[out->count++];
    *action = (struct pman_action){
        .kind = kind, .process = index, .pid = process->pid, .priority = process->priority, .cause = PMAN_NONE,
    };
    return action;
}

void pman_activate(struct pman_process *process, int64_t activated, int64_t tick_ns)
{
    process->cause = PMAN_NONE;
    process->waits_for = 0;
    process->activated_before = process->activated;
    process->activated = activated;
    process->earliest_ns = tick_ns + process->timing.delay_ns;
    process->ready_ns = tick_ns;
    process->status = PMAN_BLOCKED;
}

/* Predecessors that were activated after this process's previous activation, not after this one, and have not finished. */
void pman_block(struct pman_table *table, int index)
{
    struct pman_process *const process = &table->process[index];
    for (int i = 0; i < table->used; i++) {
        const struct pman_process *const other = &table->process[i];
        const bool is_of_span = other->activated > process->activated_before && other->activated <= process->activated;
        if ((process->predecessors & pman_bit(i)) && is_of_span && pman_is_unfinished(other))
            process->waits_for |= pman_bit(i);
    }
}

static void activate_recovery(struct pman_table *table, int missed, int64_t now_ns)
{
    const int index = table->process[missed].recovery[0] ? pman_table_find(table, table->process[missed].recovery) : PMAN_NONE;
    if (index < 0)
        return;
    struct pman_process *const recovery = &table->process[index];
    if (recovery->pid == 0)
        return;
    if (pman_is_unfinished(recovery)) {
        recovery->skips++;
        return;
    }
    pman_activate(recovery, 2 * table->ticks - 1, now_ns); /* after the last tick, number ticks - 1 */
    recovery->earliest_ns = now_ns;
    recovery->cause = missed;
}

void pman_find_miss(struct pman_table *table, int index, int64_t now_ns, struct pman_out *out)
{
    struct pman_process *const process = &table->process[index];
    if (process->status != PMAN_RUNNING || now_ns <= process->deadline_at_ns)
        return;
    process->misses++;
    process->deadline_at_ns = PMAN_NEVER;
    pman_act(table, out, PMAN_MISSED, index);
    activate_recovery(table, index, now_ns);
}

void pman_find_misses(struct pman_table *table, int64_t now_ns, struct pman_out *out)
{
    for (int i = 0; i < table->used; i++)
        pman_find_miss(table, i, now_ns, out);
}

void pman_stop_waiting(struct pman_process *process, int predecessor, int64_t now_ns)
{
    if (!(process->waits_for & pman_bit(predecessor)))
        return;
    process->waits_for &= ~pman_bit(predecessor);
    process->ready_ns = now_ns;
}

void pman_end_instance(struct pman_table *table, int index, enum pman_status status, int64_t now_ns)
{
    struct pman_process *const process = &table->process[index];
    if (process->status == PMAN_RUNNING)
        process->finish_ns = now_ns;
    process->status = (int32_t)status;
    process->waits_for = 0;
    process->deadline_at_ns = PMAN_NEVER;
    for (int i = 0; i < table->used; i++)
        pman_stop_waiting(&table->process[i], index, now_ns);
}

static bool is_first(const struct pman_process *a, const struct pman_process *b)
{
    return a->priority != b->priority ? a->priority > b->priority : a->registration < b->registration;
}

/* Returns the index of the process to release next, or PMAN_NONE. */
static int next_ready(const struct pman_table *table, int64_t now_ns)
{
    int first = PMAN_NONE;
    for (int i = 0; i < table->used; i++) {
        const struct pman_process *const process = &table->process[i];
        if (process->status != PMAN_WAITING || process->earliest_ns > now_ns)
            continue;
        if (first == PMAN_NONE || is_first(process, &table->process[first]))
            first = i;
    }
    return first;
}

static int64_t release_time_ns(const struct pman_process *process)
{
    return process->earliest_ns > process->ready_ns ? process->earliest_ns : process->ready_ns;
}

void pman_list_release(const struct pman_table *table, int index, struct pman_out *out)
{
    const struct pman_process *const process = &table->process[index];
    struct pman_action *const action = pman_act(table, out, PMAN_RELEASE, index);
    action->release_ns = release_time_ns(process);
    action->cause = process->cause;
}

static void release(struct pman_table *table, int index, int64_t now_ns, struct pman_out *out)
{
    struct pman_process *const process = &table->process[index];
    const int64_t deadline_ns = process->timing.deadline_ns;
    process->start_ns = now_ns;
    process->activations++;
    process->deadline_at_ns = deadline_ns ? release_time_ns(process) + deadline_ns : PMAN_NEVER;
    process->status = PMAN_RUNNING;
    pman_list_release(table, index, out);
}

void pman_release_ready(struct pman_table *table, int64_t now_ns, struct pman_out *out)
{
    for (int i = 0; i < table->used; i++) {
        struct pman_process *const process = &table->process[i];
        if (process->status == PMAN_BLOCKED && !process->waits_for)
            process->status = PMAN_WAITING;
    }
    for (int index; (index = next_ready(table, now_ns)) != PMAN_NONE;)
        release(table, index, now_ns, out);
}
