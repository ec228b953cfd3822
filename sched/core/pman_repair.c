/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Brings PMan's table back into order after a call that did not end. */
#include "pman_release.h"

#include <errno.h>
#include <string.h>

static bool is_text(const char *text)
{
    return memchr(text, 0, PMAN_NAME_SIZE) != NULL;
}

static bool is_sound(const struct pman_process *process)
{
    const struct pman_timing *const timing = &process->timing;
    return process->status > PMAN_FREE && process->status <= PMAN_DIED && process->name[0] && is_text(process->name) &&
           is_text(process->recovery) && timing->period >= 0 && timing->phase >= 0 && timing->delay_ns >= 0 &&
           timing->deadline_ns >= 0;
}

/* An entry without a pid has no instance; one with a pid is at least idle. Who died in between shall attach again. */
static void repair_process(struct pman_process *process)
{
    if (!is_sound(process)) {
        memset(process, 0, sizeof *process);
        return;
    }
    const bool has_no_process = process->status == PMAN_REGISTERED || process->status == PMAN_DIED;
    if (has_no_process)
        process->pid = 0;
    else if (process->pid <= 0)
        process->status = PMAN_REGISTERED;
    process->qos_update = process->pid == 0;
    process->waits_for = 0;
    if (process->status == PMAN_WAITING)
        process->status = PMAN_BLOCKED;
}

/* Removes precedences of processes that are not there, and finds out what each instance waits for. */
static void repair_graph(struct pman *table)
{
    uint64_t there = 0;
    for (int i = 0; i < PMAN_CAPACITY; i++)
        if (table->process[i].status != PMAN_FREE)
            there |= pman_bit(i);
    for (int i = 0; i < PMAN_CAPACITY; i++) {
        table->process[i].predecessors &= there;
        if (table->process[i].status == PMAN_BLOCKED && table->process[i].cause == PMAN_NONE)
            pman_block(table, i);
    }
}

int pman_repair(struct pman *table, int64_t now_ns, struct pman_out *out)
{
    out->count = 0;
    if (pman_check(table))
        return -EPROTO;
    for (int i = 0; i < PMAN_CAPACITY; i++)
        repair_process(&table->process[i]);
    repair_graph(table);
    for (int i = 0; i < PMAN_CAPACITY; i++) {
        if (table->process[i].pid)
            pman_act(table, out, PMAN_SET_PRIORITY, i);
        if (table->process[i].status == PMAN_RUNNING)
            pman_list_release(table, i, out);
    }
    pman_release_ready(table, now_ns, out);
    return 0;
}
