/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pman_change.h"

#include "futex.h"
#include "pman.h"
#include "pman_release.h"
#include "process_start.h"
#include "thread_policy.h"

#include <errno.h>
#include <signal.h>

/* The pid of a slot may mean another process by now. */
static bool is_alive(const struct pman_slot *slot, pid_t pid)
{
    return process_lives(pid, slot->start);
}

static int set_priority(const struct pman_slot *slot, pid_t pid, int priority)
{
    const struct thread_policy policy = {.kind = priority ? THREAD_FIFO : THREAD_OTHER, .priority = priority};
    return is_alive(slot, pid) ? thread_policy_set(pid, &policy) : -ESRCH;
}

/* A process that runs under several names has the highest of their priorities. */
static int priority_of(const struct pman_table *table, pid_t pid)
{
    int highest = 0;
    for (int i = 0; i < table->used; i++)
        if (table->process[i].pid == pid && table->process[i].priority > highest)
            highest = table->process[i].priority;
    return highest;
}

/* A process that never had a priority keeps its policy. */
static int set_priorities(const struct pman_change *change)
{
    for (int i = 0; i < change->out.count; i++) {
        const struct pman_action *const action = &change->out.action[i];
        const int priority = priority_of(change->table, action->pid);
        if (action->kind != PMAN_SET_PRIORITY || (!priority && !priority_of(change->before, action->pid)))
            continue;
        const int error = set_priority(&change->shared->slot[action->process], action->pid, priority);
        if (error)
            return error;
    }
    return 0;
}

/* True if it still has the priority that the table gave it, and nobody has set another policy meanwhile. */
static bool has_priority(pid_t pid, int priority)
{
    struct thread_policy policy;
    return !thread_policy_get(pid, &policy) && policy.kind == THREAD_FIFO && policy.priority == priority;
}

/* A process that has a lower priority in the new table, or is not in it any more, gets that, or SCHED_OTHER. */
static void give_back(const struct pman_shared *shared, const struct pman_table *old, const struct pman_table *new)
{
    for (int i = 0; i < old->used; i++) {
        const pid_t pid = old->process[i].pid;
        if (!pid || !old->process[i].priority)
            continue;
        const int given = priority_of(old, pid), left = priority_of(new, pid);
        if (given > left && has_priority(pid, given))
            set_priority(&shared->slot[i], pid, left);
    }
}

static void ring(struct pman_slot *slot)
{
    __atomic_fetch_add(&slot->bell, 1, __ATOMIC_RELEASE); /* with pman_wait, which reads it before the other words */
}

/* Brings a slot up to date, so that it is right whatever it was. Returns true if its process has to look at it. */
static bool update_slot(struct pman_shared *shared, int index)
{
    const struct pman_process *const process = &pman_shared_table(shared)->process[index];
    struct pman_slot *const slot = &shared->slot[index];
    const uint32_t number = (uint32_t)process->activations;
    const bool is_other = slot->pid != process->pid || slot->registration != process->registration;
    const bool is_new = process->status == PMAN_RUNNING && slot->released != number;
    if (is_other) {
        if (slot->registration != process->registration)
            __atomic_store_n(&slot->started_ns, 0, __ATOMIC_RELAXED);
        slot->registration = process->registration;
        __atomic_store_n(&slot->released, number, __ATOMIC_RELAXED);
        __atomic_store_n(&slot->taken, number, __ATOMIC_RELAXED);
        __atomic_store_n(&slot->delivered, number, __ATOMIC_RELAXED);
        __atomic_store_n(&slot->has_waited, 0, __ATOMIC_RELAXED);
        /* Before the pid: if this program is killed in between, the next one finds the slot wrong and does both again. */
        __atomic_fetch_add(&shared->pids, 1, __ATOMIC_RELEASE);
        __atomic_store_n(&slot->pid, process->pid, __ATOMIC_RELEASE);
    } else if (is_new) {
        __atomic_store_n(&slot->released, number, __ATOMIC_RELEASE);
    }
    if (is_other || is_new)
        ring(slot);
    return is_other || is_new;
}

static bool is_by_futex(const struct pman_slot *slot)
{
    return __atomic_load_n(&slot->how, __ATOMIC_RELAXED) == PMAN_BY_FUTEX;
}

/* True if the process was not notified of its instance, perhaps because a program was killed. */
static bool is_undelivered(const struct pman_shared *shared, const struct pman_process *process, int index)
{
    return process->status == PMAN_RUNNING &&
           __atomic_load_n(&shared->slot[index].delivered, __ATOMIC_RELAXED) != (uint32_t)process->activations;
}

static void wake(struct pman_shared *shared, int index)
{
    struct pman_slot *const slot = &shared->slot[index];
    const uint32_t number = __atomic_load_n(&slot->released, __ATOMIC_RELAXED);
    uint32_t delivered = __atomic_load_n(&slot->delivered, __ATOMIC_RELAXED);
    futex_wake(&slot->bell);
    if (!is_by_futex(slot))
        return; /* only a signal delivers, which is sent under the lock */
    /* Another caller may have delivered a later one meanwhile. */
    __atomic_compare_exchange_n(&slot->delivered, &delivered, number, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void send_signal(struct pman_shared *shared, int index)
{
    const struct pman_process *const process = &pman_shared_table(shared)->process[index];
    struct pman_slot *const slot = &shared->slot[index];
    if (is_alive(slot, process->pid)) {
        __atomic_store_n(&slot->started_ns, pman_now_ns(), __ATOMIC_RELAXED);
        kill(process->pid, slot->how == PMAN_BY_CONT ? SIGCONT : SIGRTMIN);
    }
    __atomic_store_n(&slot->delivered, (uint32_t)process->activations, __ATOMIC_RELAXED);
}

/*
 * Signals are sent under the lock, as long as the pid is right. So those that come before a signal in the order of the releases are
 * woken here as well. What a killed program has left comes last.
 */
static void send_signals(struct pman_change *change, uint64_t to_signal)
{
    for (int i = 0; i < change->out.count && to_signal; i++) {
        const struct pman_action *const action = &change->out.action[i];
        const uint64_t process = action->kind == PMAN_RELEASE ? pman_bit(action->process) : 0;
        if (process & to_signal) {
            send_signal(change->shared, action->process);
            to_signal &= ~process;
        } else if (process & change->to_wake) {
            wake(change->shared, action->process);
            change->to_wake &= ~process;
        }
    }
    for (int i = 0; i < PMAN_CAPACITY; i++)
        if (to_signal & pman_bit(i))
            send_signal(change->shared, i);
}

/* Before those who wait see that they are detached. */
static void mark_closed(struct pman_shared *shared, const struct pman_table *table)
{
    if (table->is_closed)
        __atomic_store_n(&shared->is_closed, 1, __ATOMIC_RELEASE);
}

static void update_slots(struct pman_change *change)
{
    struct pman_shared *const shared = change->shared;
    const uint32_t pids = shared->pids;
    uint64_t to_signal = 0;
    for (int i = 0; i < pman_shared_table(shared)->used; i++) {
        const bool is_changed = update_slot(shared, i);
        const bool is_undone = is_undelivered(shared, &pman_shared_table(shared)->process[i], i);
        const bool needs_signal = is_undone && !is_by_futex(&shared->slot[i]);
        if (is_changed || (is_undone && !needs_signal))
            change->to_wake |= pman_bit(i);
        if (needs_signal)
            to_signal |= pman_bit(i);
    }
    send_signals(change, to_signal);
    change->must_wake_manager |= pids != shared->pids;
}

/* A process that has missed its deadline may be gone. */
static void log_action(struct pman_change *change, const struct pman_action *action)
{
    const bool is_miss = action->kind == PMAN_MISSED;
    const struct pman_process *const process = &(is_miss ? change->before : change->table)->process[action->process];
    if (!is_miss && action->kind != PMAN_RELEASE)
        return;
    const struct pman_log_record record = {
        .time_ns = change->now_ns, .number = process->activations, .value = is_miss ? 0 : action->release_ns,
        .tick = is_miss ? -1 : process->activated / 2, .kind = is_miss ? PMAN_LOG_MISS : PMAN_LOG_RELEASE,
        .process = action->process,
    };
    pman_log_add(&change->shared->log, &record);
}

/* If the process has begun this instance, that is recorded, too. */
static void log_finish(struct pman_change *change, int index)
{
    const struct pman_slot *const slot = &change->shared->slot[index];
    struct pman_log_record record = {
        .number = change->before->process[index].activations, .tick = -1, .kind = PMAN_LOG_START, .process = index,
    };
    if (__atomic_load_n(&slot->taken, __ATOMIC_ACQUIRE) == (uint32_t)record.number && slot->has_waited) {
        record.time_ns = __atomic_load_n(&slot->started_ns, __ATOMIC_RELAXED);
        pman_log_add(&change->shared->log, &record);
    }
    record.time_ns = change->now_ns;
    record.value = change->table->process[index].status;
    record.kind = PMAN_LOG_FINISH;
    pman_log_add(&change->shared->log, &record);
}

static void log_finishes(struct pman_change *change)
{
    for (int i = 0; i < change->before->used; i++)
        if (change->before->process[i].status == PMAN_RUNNING && change->table->process[i].status != PMAN_RUNNING)
            log_finish(change, i);
}

/* Wakes those of this call's releases first, in their order. */
static void wake_all(struct pman_change *change)
{
    for (int i = 0; i < change->out.count; i++) {
        const struct pman_action *const action = &change->out.action[i];
        if (action->kind != PMAN_RELEASE || !(change->to_wake & pman_bit(action->process)))
            continue;
        wake(change->shared, action->process);
        change->to_wake &= ~pman_bit(action->process);
    }
    for (int i = 0; i < PMAN_CAPACITY; i++)
        if (change->to_wake & pman_bit(i))
            wake(change->shared, i);
    if (!change->must_wake_manager)
        return;
    __atomic_fetch_add(&change->shared->manager_bell, 1, __ATOMIC_RELEASE); /* with the manager's look before it locks */
    futex_wake(&change->shared->manager_bell);
}

/*
 * Carries out what a killed program has left, before anything changes: the table may be newer than the slots. The other copy is the
 * table before that program's change, or one that it had begun to change; a process that has a higher priority there was to lose
 * it, or was not yet to get it. Errors of priorities were that program's.
 */
static void make_up(struct pman_change *change)
{
    const struct pman_table *const table = change->before;
    give_back(change->shared, change->table, table);
    for (int i = 0; i < table->used; i++)
        if (table->process[i].pid && table->process[i].priority)
            set_priority(&change->shared->slot[i], table->process[i].pid, priority_of(table, table->process[i].pid));
    mark_closed(change->shared, table);
    update_slots(change);
}

int pman_change_begin(struct pman_change *change, struct pman_shared *shared)
{
    bool was_dead;
    const int error = pman_shared_lock(shared, &was_dead);
    if (error)
        return error;
    change->shared = shared;
    change->before = pman_shared_table(shared);
    change->table = &shared->table[change->before == &shared->table[0]];
    change->out.count = 0;
    change->to_wake = 0;
    change->must_wake_manager = was_dead;
    change->tick_ns = 0;
    change->now_ns = pman_now_ns();
    if (was_dead)
        make_up(change);
    if (change->before->is_closed) { /* by a program that was killed then */
        pman_shared_unlock(shared);
        wake_all(change);
        return -ESHUTDOWN;
    }
    pman_table_copy(change->table, change->before);
    return 0;
}

int pman_change_end(struct pman_change *change, int error)
{
    struct pman_shared *const shared = change->shared;
    if (!error)
        error = set_priorities(change);
    if (error) {
        change->out.count = 0;
    } else {
        __atomic_store_n(&shared->current, (uint32_t)(change->table - shared->table), __ATOMIC_RELEASE);
        if (change->tick_ns)
            shared->last_tick_ns = change->tick_ns;
        give_back(shared, change->before, change->table);
        for (int i = 0; i < change->out.count; i++)
            log_action(change, &change->out.action[i]);
        log_finishes(change);
        mark_closed(shared, change->table);
    }
    update_slots(change); /* also after an error: it makes up for what a killed program has left */
    change->must_wake_manager |=
        pman_table_next_ns(pman_shared_table(shared)) < __atomic_load_n(&shared->manager_until_ns, __ATOMIC_RELAXED);
    pman_shared_unlock(shared);
    wake_all(change);
    return error;
}

uint64_t pman_change_entries(const struct pman_change *change, pid_t pid, uint64_t start)
{
    uint64_t ret = 0;
    for (int i = 0; i < change->before->used; i++)
        if (change->before->process[i].pid == pid && change->shared->slot[i].start == start)
            ret |= pman_bit(i);
    return ret;
}
