/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registration and attributes of PMan's processes. */
#include "pman_table.h"

#include "pman_release.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Its layout is shared by programs that may be built by different compilers. */
_Static_assert(sizeof(struct pman_process) == 256 && offsetof(struct pman_table, process) == 40,
               "a changed layout needs a new version of the shared table");

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

bool pman_is_name(const char *name)
{
    int length = 0;
    while (name && length < PMAN_NAME_SIZE && is_letter(name[length]))
        length++;
    return length > 0 && length < PMAN_NAME_SIZE && !name[length];
}

static bool is_time(int64_t ns)
{
    return ns >= 0 && ns <= PMAN_TIME_MAX;
}

static bool is_timing(const struct pman_timing *timing)
{
    return timing && is_time(timing->period) && is_time(timing->phase) && is_time(timing->delay_ns) && is_time(timing->deadline_ns);
}

static bool is_priority(const struct pman_table *table, int priority)
{
    return priority >= table->priority_min && priority <= table->priority_max;
}

int pman_table_init(struct pman_table *table, const struct pman_table_options *options)
{
    const int capacity = options->capacity ? options->capacity : PMAN_CAPACITY;
    if (capacity < 0 || capacity > PMAN_CAPACITY || options->priority_min > options->priority_max)
        return -EINVAL;
    if (options->deadlines != PMAN_DEADLINES_TIMER && options->deadlines != PMAN_DEADLINES_TICK)
        return -EINVAL;
    *table = (struct pman_table){
        .capacity = capacity, .deadlines = (int32_t)options->deadlines, .priority_min = options->priority_min,
        .priority_max = options->priority_max,
    };
    return 0;
}

void pman_table_copy(struct pman_table *to, const struct pman_table *from)
{
    memcpy(to, from, offsetof(struct pman_table, process) + (size_t)from->used * sizeof from->process[0]);
}

int pman_table_find(const struct pman_table *table, const char *name)
{
    for (int i = 0; name && i < table->used; i++)
        if (table->process[i].status != PMAN_FREE && !strcmp(table->process[i].name, name))
            return i;
    return -ENOENT;
}

static int find_free(const struct pman_table *table)
{
    for (int i = 0; i < table->used; i++)
        if (table->process[i].status == PMAN_FREE)
            return i;
    return table->used < table->capacity ? table->used : -ENOSPC;
}

int pman_table_add(struct pman_table *table, const char *name, const struct pman_timing *timing, int priority,
                   const char *recovery)
{
    if (!pman_is_name(name) || (recovery && !pman_is_name(recovery)) || !is_timing(timing))
        return -EINVAL;
    if (!is_priority(table, priority))
        return -ERANGE;
    if (pman_table_find(table, name) >= 0)
        return -EEXIST;
    const int index = find_free(table);
    if (index < 0)
        return index;
    struct pman_process *const process = &table->process[index];
    *process = (struct pman_process){
        .timing = *timing, .registration = table->registrations++, .activated = -1, .activated_before = -1,
        .deadline_at_ns = PMAN_NEVER, .start_ns = -1, .finish_ns = -1, .priority = priority, .cause = PMAN_NONE,
        .status = PMAN_REGISTERED, .qos_update = 1,
    };
    strcpy(process->name, name);
    if (recovery)
        strcpy(process->recovery, recovery);
    if (index == table->used)
        table->used++;
    return 0;
}

int pman_table_remove(struct pman_table *table, const char *name, int64_t now_ns, struct pman_out *out)
{
    out->count = 0;
    const int index = pman_table_find(table, name);
    if (index < 0)
        return index;
    pman_find_miss(table, index, now_ns, out);
    pman_end_instance(table, index, PMAN_FREE, now_ns);
    for (int i = 0; i < table->used; i++)
        table->process[i].predecessors &= ~pman_bit(index);
    table->process[index] = (struct pman_process){0};
    pman_release_ready(table, now_ns, out);
    return 0;
}

static void set_priority(struct pman_table *table, int index, struct pman_out *out)
{
    struct pman_process *const process = &table->process[index];
    process->qos_update = process->pid == 0;
    if (process->pid)
        pman_act(table, out, PMAN_SET_PRIORITY, index);
}

int pman_table_attach(struct pman_table *table, const char *name, int32_t pid, struct pman_out *out)
{
    out->count = 0;
    const int index = pman_table_find(table, name);
    if (index < 0)
        return index;
    if (pid <= 0)
        return -EINVAL;
    if (table->process[index].pid)
        return -EBUSY;
    table->process[index].pid = pid;
    table->process[index].status = PMAN_IDLE;
    set_priority(table, index, out);
    return 0;
}

/* The process of this entry is gone. */
static void clear_pid(struct pman_table *table, int index, enum pman_status status, int64_t now_ns, struct pman_out *out)
{
    pman_find_miss(table, index, now_ns, out);
    pman_end_instance(table, index, status, now_ns);
    table->process[index].pid = 0;
    table->process[index].qos_update = 1;
}

int pman_table_detach(struct pman_table *table, const char *name, int64_t now_ns, struct pman_out *out)
{
    out->count = 0;
    const int index = pman_table_find(table, name);
    if (index < 0)
        return index;
    if (!table->process[index].pid)
        return -ESRCH;
    clear_pid(table, index, PMAN_REGISTERED, now_ns, out);
    pman_release_ready(table, now_ns, out);
    return 0;
}

int pman_table_bury(struct pman_table *table, uint64_t entries, int64_t now_ns, struct pman_out *out)
{
    int ret = -ESRCH;
    out->count = 0;
    for (int i = 0; i < table->used; i++) {
        if (!(entries & pman_bit(i)) || !table->process[i].pid)
            continue;
        clear_pid(table, i, PMAN_DIED, now_ns, out);
        ret = 0;
    }
    if (!ret)
        pman_release_ready(table, now_ns, out);
    return ret;
}

int pman_table_prioritize(struct pman_table *table, const char *name, int priority, struct pman_out *out)
{
    out->count = 0;
    const int index = pman_table_find(table, name);
    if (index < 0)
        return index;
    if (!is_priority(table, priority))
        return -ERANGE;
    table->process[index].priority = priority;
    set_priority(table, index, out);
    return 0;
}

/* Copies the fields of the set. */
static void copy_fields(struct pman_timing *to, const struct pman_timing *from, unsigned fields)
{
    if (fields & PMAN_PERIOD)
        to->period = from->period;
    if (fields & PMAN_PHASE)
        to->phase = from->phase;
    if (fields & PMAN_DELAY)
        to->delay_ns = from->delay_ns;
    if (fields & PMAN_DEADLINE)
        to->deadline_ns = from->deadline_ns;
}

int pman_table_retime(struct pman_table *table, const char *name, unsigned fields, const struct pman_timing *timing)
{
    const int index = pman_table_find(table, name);
    if (index < 0)
        return index;
    if (!timing)
        return -EINVAL;
    struct pman_process *const process = &table->process[index];
    struct pman_timing next = process->has_next_timing ? process->next_timing : process->timing;
    copy_fields(&next, timing, fields);
    if (!fields || fields > (PMAN_PERIOD | PMAN_PHASE | PMAN_DELAY | PMAN_DEADLINE) || !is_timing(&next))
        return -EINVAL;
    process->next_timing = next;
    process->has_next_timing = 1;
    return 0;
}

int pman_table_query(const struct pman_table *table, const char *name, struct pman_statistics *statistics)
{
    const int index = pman_table_find(table, name);
    if (index < 0)
        return index;
    const struct pman_process *const process = &table->process[index];
    *statistics = (struct pman_statistics){
        .status = (enum pman_status)process->status, .pid = process->pid, .priority = process->priority,
        .activations = process->activations, .misses = process->misses, .skips = process->skips,
        .last_start_ns = process->start_ns, .last_finish_ns = process->finish_ns,
    };
    return 0;
}

void pman_table_list_again(const struct pman_table *table, struct pman_out *out)
{
    out->count = 0;
    for (int i = 0; i < table->used; i++) {
        if (table->process[i].pid)
            pman_act(table, out, PMAN_SET_PRIORITY, i);
        if (table->process[i].status == PMAN_RUNNING)
            pman_list_release(table, i, out);
    }
}
