/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The seed's Table 2 on shared memory. */
#include "pman.h"

#include "pman_change.h"
#include "pman_release.h"
#include "pman_services.h"
#include "process_start.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PRIORITY_MAX = 99 }; /* as sched_get_priority_max(SCHED_FIFO) on Linux; 0 is an ordinary process */

static int make_handle(struct pman **pman, struct pman_shared *shared, const char *name)
{
    struct pman *const made = malloc(sizeof *made);
    if (!made)
        return -ENOMEM;
    made->shared = shared;
    strcpy(made->name, name);
    *pman = made;
    return 0;
}

/* Takes all pids away in the same change, so that priorities are given back, and nobody is activated by the end of another one. */
static void close_table(struct pman_shared *shared)
{
    struct pman_change change;
    if (pman_change_begin(&change, shared))
        return;
    for (int i = 0; i < change.before->used; i++)
        if (change.before->process[i].pid)
            pman_table_detach(change.table, change.before->process[i].name, change.now_ns, &change.out);
    change.out.count = 0;
    change.table->is_closed = 1;
    change.must_wake_manager = true;
    pman_change_end(&change, 0);
}

int pman_init(struct pman **pman, const char *name, const struct pman_options *options)
{
    struct pman_shared *shared;
    if (!options)
        return -EINVAL;
    const struct pman_table_options of_table = {
        .capacity = options->capacity, .deadlines = options->deadlines, .priority_min = 0, .priority_max = PRIORITY_MAX,
    };
    int error = pman_shared_create(&shared, name, &of_table);
    if (error)
        return error;
    error = make_handle(pman, shared, name);
    if (error) {
        close_table(shared);
        pman_shared_unlink(name);
        pman_shared_unmap(shared);
    }
    return error;
}

int pman_open(struct pman **pman, const char *name)
{
    struct pman_shared *shared;
    int error = pman_shared_open(&shared, name);
    if (error)
        return error == -ESHUTDOWN ? -ENOENT : error;
    error = make_handle(pman, shared, name);
    if (error)
        pman_shared_unmap(shared);
    return error;
}

void pman_leave(struct pman **pman)
{
    if (!*pman)
        return;
    pman_shared_unmap((*pman)->shared);
    free(*pman);
    *pman = NULL;
}

int pman_close(struct pman **pman)
{
    if (!*pman)
        return 0;
    close_table((*pman)->shared);
    pman_shared_unlink((*pman)->name);
    pman_leave(pman);
    return 0;
}

int pman_procadd(struct pman *pman, const char *name, const struct pman_timing *timing, int priority, const char *recovery)
{
    struct pman_change change;
    const int error = pman_change_begin(&change, pman->shared);
    return error ? error : pman_change_end(&change, pman_table_add(change.table, name, timing, priority, recovery));
}

int pman_procdel(struct pman *pman, const char *name)
{
    struct pman_change change;
    const int error = pman_change_begin(&change, pman->shared);
    return error ? error : pman_change_end(&change, pman_table_remove(change.table, name, change.now_ns, &change.out));
}

/* Returns the entries of the process that has this name, if it has ended, and of those that had this pid before. */
static uint64_t ended_entries(const struct pman_change *change, const char *name, pid_t pid, uint64_t start)
{
    const int index = pman_table_find(change->before, name);
    const pid_t named = index < 0 ? 0 : change->before->process[index].pid;
    const uint64_t named_start = index < 0 ? 0 : change->shared->slot[index].start;
    uint64_t ret = 0;
    if (named && !process_lives(named, named_start))
        ret = pman_change_entries(change, named, named_start);
    for (int i = 0; i < change->before->used; i++)
        if (change->before->process[i].pid == pid && change->shared->slot[i].start != start)
            ret |= pman_bit(i);
    return ret;
}

/* Makes room for a new process, where the manager has not noticed yet that one has ended. */
static void bury_ended(struct pman_shared *shared, const char *name, pid_t pid, uint64_t start)
{
    struct pman_change change;
    if (pman_change_begin(&change, shared))
        return;
    const uint64_t ended = ended_entries(&change, name, pid, start);
    pman_change_end(&change, pman_table_bury(change.table, ended, change.now_ns, &change.out));
}

/* Nobody looks at the slot of a process without a pid. */
static int attach(struct pman_change *change, const char *name, pid_t pid, uint64_t start, enum pman_activation how)
{
    const int index = pman_table_find(change->table, name);
    if (index >= 0 && !change->table->process[index].pid) {
        change->shared->slot[index].start = start;
        __atomic_store_n(&change->shared->slot[index].how, (int32_t)how, __ATOMIC_RELAXED);
    }
    return pman_table_attach(change->table, name, pid, &change->out);
}

/* The ends of other threads than the main one are not noticed, and they would get the signals of their process. */
static int check_pid(pid_t pid)
{
    if (!syscall(SYS_tgkill, pid, pid, 0))
        return 0;
    const int error = -errno;
    return error == -ESRCH && process_start(pid) ? -EINVAL : error;
}

int pman_attach(struct pman *pman, const char *name, pid_t pid, enum pman_activation how)
{
    if (pid <= 0 || (how != PMAN_BY_FUTEX && how != PMAN_BY_SIGNAL && how != PMAN_BY_CONT))
        return -EINVAL;
    int error = check_pid(pid);
    if (error)
        return error;
    const uint64_t start = process_start(pid);
    if (!start || start == PROCESS_START_UNKNOWN)
        return start ? -EMFILE : -ESRCH;
    bury_ended(pman->shared, name, pid, start);
    struct pman_change change;
    error = pman_change_begin(&change, pman->shared);
    return error ? error : pman_change_end(&change, attach(&change, name, pid, start, how));
}

int pman_detach(struct pman *pman, const char *name)
{
    struct pman_change change;
    const int error = pman_change_begin(&change, pman->shared);
    return error ? error : pman_change_end(&change, pman_table_detach(change.table, name, change.now_ns, &change.out));
}

int pman_prec_add(struct pman *pman, const char *name, const char *predecessor)
{
    struct pman_change change;
    const int error = pman_change_begin(&change, pman->shared);
    return error ? error : pman_change_end(&change, pman_table_precede(change.table, name, predecessor));
}

int pman_prec_rem(struct pman *pman, const char *name, const char *predecessor)
{
    struct pman_change change;
    const int error = pman_change_begin(&change, pman->shared);
    if (error)
        return error;
    return pman_change_end(&change, pman_table_unprecede(change.table, name, predecessor, change.now_ns, &change.out));
}

int pman_qosupd(struct pman *pman, const char *name, int priority)
{
    struct pman_change change;
    const int error = pman_change_begin(&change, pman->shared);
    return error ? error : pman_change_end(&change, pman_table_prioritize(change.table, name, priority, &change.out));
}

int pman_tpupd(struct pman *pman, const char *name, unsigned fields, const struct pman_timing *timing)
{
    struct pman_change change;
    const int error = pman_change_begin(&change, pman->shared);
    return error ? error : pman_change_end(&change, pman_table_retime(change.table, name, fields, timing));
}

int pman_epilogue(struct pman *pman, const char *name)
{
    struct pman_change change;
    const int error = pman_change_begin(&change, pman->shared);
    return error ? error : pman_change_end(&change, pman_table_finish(change.table, name, change.now_ns, &change.out));
}

/* What the table does not know. */
static void add_from_slot(struct pman_statistics *statistics, const struct pman_slot *slot)
{
    const int64_t started_ns = __atomic_load_n(&slot->started_ns, __ATOMIC_RELAXED);
    statistics->last_start_ns = started_ns ? started_ns : -1;
    statistics->has_waited = (int32_t)slot->has_waited;
}

int pman_query(struct pman *pman, const char *name, struct pman_statistics *statistics)
{
    struct pman_change change;
    int error = statistics ? pman_change_begin(&change, pman->shared) : -EINVAL;
    if (error)
        return error;
    error = pman_table_query(change.before, name, statistics);
    if (!error)
        add_from_slot(statistics, &change.shared->slot[pman_table_find(change.before, name)]);
    pman_change_end(&change, -ECANCELED); /* nothing changes */
    return error;
}

int pman_services_view(struct pman_shared *shared, struct pman_table *copy)
{
    struct pman_change change;
    const int error = pman_change_begin(&change, shared);
    if (error)
        return error;
    pman_table_copy(copy, change.before);
    pman_change_end(&change, -ECANCELED); /* the table does not change */
    return 0;
}

/* What the tick cost is known only after the lock was released. */
static void log_tick(struct pman_shared *shared, const struct pman_log_record *record)
{
    struct pman_change change;
    if (pman_change_begin(&change, shared))
        return;
    pman_log_add(&shared->log, record);
    pman_change_end(&change, -ECANCELED); /* the table does not change */
}

int pman_services_tick(struct pman_shared *shared, int64_t tick_ns)
{
    struct pman_change change;
    const int64_t begun_ns = pman_now_ns();
    int error = pman_change_begin(&change, shared);
    if (error)
        return error;
    struct pman_log_record record = {
        .time_ns = tick_ns ? tick_ns : change.now_ns, .number = change.table->ticks, .tick = change.table->ticks,
        .kind = PMAN_LOG_TICK, .process = PMAN_NONE,
    };
    error = record.time_ns > change.now_ns || record.time_ns < shared->last_tick_ns ? -EINVAL : 0;
    if (!error) {
        change.tick_ns = record.time_ns;
        error = pman_table_tick(change.table, record.time_ns, change.now_ns, &change.out);
    }
    error = pman_change_end(&change, error);
    record.value = pman_now_ns() - begun_ns;
    if (!error)
        log_tick(shared, &record);
    return error;
}

int64_t pman_services_timer(struct pman_shared *shared, int64_t latest_ns)
{
    struct pman_change change;
    const int error = pman_change_begin(&change, shared);
    if (error)
        return error;
    const int ret = pman_table_timer(change.table, change.now_ns, &change.out);
    const int64_t next_ns = pman_table_next_ns(change.table), until_ns = next_ns < latest_ns ? next_ns : latest_ns;
    __atomic_store_n(&shared->manager_until_ns, until_ns, __ATOMIC_RELAXED);
    pman_change_end(&change, ret);
    return until_ns;
}

void pman_services_bury(struct pman_shared *shared, pid_t pid, uint64_t start)
{
    struct pman_change change;
    if (pman_change_begin(&change, shared))
        return;
    const uint64_t entries = pman_change_entries(&change, pid, start);
    pman_change_end(&change, pman_table_bury(change.table, entries, change.now_ns, &change.out));
}

int pman_tick(struct pman *pman, int64_t tick_ns)
{
    return pman_services_tick(pman->shared, tick_ns);
}
