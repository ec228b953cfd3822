/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a process waits for its instances. */
#include "pman.h"

#include "futex.h"
#include "ns.h"
#include "pman_change.h"

#include <errno.h>
#include <unistd.h>

/* A program that was killed before it woke this one delays it by no more than this. */
static const int64_t look_again_ns = NS_PER_S;

/* Which entry of the table is waited for. */
struct place {
    struct pman_slot *slot;
    uint64_t registration;
};

/* Finds the entry of the table, which this process has. An instance that it has never begun, but that is over, does not count. */
static int look(const struct pman_change *change, const char *name, struct place *place)
{
    const int index = pman_table_find(change->before, name);
    if (index < 0)
        return index;
    const struct pman_process *const process = &change->before->process[index];
    struct pman_slot *const slot = &change->shared->slot[index];
    if (process->pid != getpid())
        return -ESRCH;
    if (process->status == PMAN_RUNNING && slot->taken == slot->released)
        return -EBUSY;
    if (process->status != PMAN_RUNNING)
        slot->taken = slot->released;
    *place = (struct place){slot, process->registration};
    return 0;
}

static int find_place(struct place *place, struct pman_shared *shared, const char *name)
{
    struct pman_change change;
    int error = pman_change_begin(&change, shared);
    if (error)
        return error;
    error = look(&change, name, place);
    pman_change_end(&change, -ECANCELED); /* the table does not change */
    return error;
}

/* Returns 1 if the next instance has begun, 0 if there is none yet, or a negative errno. */
static int take(struct pman_shared *shared, const struct place *place)
{
    struct pman_slot *const slot = place->slot;
    const bool is_mine = __atomic_load_n(&slot->pid, __ATOMIC_ACQUIRE) == getpid() && slot->registration == place->registration;
    if (pman_shared_is_closed(shared)) /* stored before the pid is cleared */
        return -ESHUTDOWN;
    if (!is_mine)
        return -ESRCH;
    const uint32_t released = __atomic_load_n(&slot->released, __ATOMIC_ACQUIRE);
    if (released == slot->taken)
        return 0;
    __atomic_store_n(&slot->started_ns, pman_now_ns(), __ATOMIC_RELAXED);
    __atomic_store_n(&slot->taken, released, __ATOMIC_RELEASE); /* with the log's look at it, in another process perhaps */
    return 1;
}

int pman_wait(struct pman *pman, const char *name)
{
    struct place place;
    int error = find_place(&place, pman->shared, name);
    if (error)
        return error;
    __atomic_store_n(&place.slot->has_waited, 1, __ATOMIC_RELAXED);
    for (;;) {
        const uint32_t bell = __atomic_load_n(&place.slot->bell, __ATOMIC_ACQUIRE); /* whoever changes the slot rings after it */
        const int ret = take(pman->shared, &place);
        if (ret)
            return ret < 0 ? ret : 0;
        error = futex_wait(&place.slot->bell, bell, pman_now_ns() + look_again_ns);
        if (error)
            return error;
    }
}
