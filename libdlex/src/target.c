/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "target.h"

#include "quiet.h"

#include <dlex/dlex.h>

/* Guards the list and the signalled_ns_ of all triggers. Taken by threads that fire; by threads that
 * enter the list, leave it or flush; and round fork. As long as a thread is in the list and the lock is
 * held, that thread exists. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct target *list;
static uint64_t last_number;

static void take_lock(struct quiet *before)
{
    dlex_quiet_begin(before);
    pthread_mutex_lock(&lock);
}

static void release_lock(const struct quiet *before)
{
    pthread_mutex_unlock(&lock);
    dlex_quiet_end(before);
}

/* With the lock held. */
static void link_in(struct target *target)
{
    target->number = ++last_number;
    target->thread = pthread_self();
    target->next = list;
    list = target;
}

/* The number is looked at again in the lock: until then a handler may have done all this. */
void dlex_target_enter(struct target *target)
{
    if (target->number)
        return;
    struct quiet before;
    take_lock(&before);
    if (!target->number)
        link_in(target);
    release_lock(&before);
}

/* The caller lets no handler run here. */
void dlex_target_leave(struct target *target)
{
    if (!target->number)
        return;
    struct quiet before;
    take_lock(&before);
    struct target **link = &list;
    while (*link != target)
        link = &(*link)->next;
    *link = target->next;
    target->number = 0;
    target->bound = 0;
    release_lock(&before);
}

static const struct target *find(uint64_t number)
{
    const struct target *target = list;
    while (target && target->number != number)
        target = target->next;
    return target;
}

bool dlex_target_is_bound(uint64_t number)
{
    struct quiet before;
    take_lock(&before);
    const struct target *const target = find(number);
    const bool is_bound = target && __atomic_load_n(&target->bound, __ATOMIC_RELAXED);
    release_lock(&before);
    return is_bound;
}

/* A thread sends with the lock held, so no signal is on its way once this thread has had the lock. What
 * has been sent is handled on the return from pthread_sigmask. */
void dlex_target_flush(const struct target *target)
{
    if (!target->number)
        return;
    struct quiet before;
    take_lock(&before);
    release_lock(&before);
}

/* Each firing after a reset has another time: otherwise it would seem to be signalled already. Writes
 * also if the trigger is fired, so that the reset that follows acquires from this thread too. The
 * owner's dlex_trigger_bind first stores its number and then reads the mark; here the mark is stored
 * first. So one of the two sees the other. */
static int64_t mark(struct dlex_trigger *trigger)
{
    const int64_t now_ns = dlex_now_ns();
    const int64_t unused_ns = now_ns > trigger->signalled_ns_ ? now_ns : trigger->signalled_ns_ + 1;
    int64_t fired_ns = __atomic_load_n(&trigger->fired_ns_, __ATOMIC_RELAXED), next_ns;
    do
        next_ns = fired_ns ? fired_ns : unused_ns;
    while (!__atomic_compare_exchange_n(&trigger->fired_ns_, &fired_ns, next_ns, true,
                                        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return next_ns;
}

/* If no block is bound, nothing has to be signalled: a block that is bound later sees the mark. */
static int signal_once(struct dlex_trigger *trigger, int64_t fired_ns)
{
    const uint64_t number = __atomic_load_n(&trigger->thread_, __ATOMIC_SEQ_CST);
    const struct target *const target = number ? find(number) : NULL;
    if (!target || trigger->signalled_ns_ == fired_ns)
        return 0;
    const int err = pthread_kill(target->thread, dlex_signal());
    if (!err)
        trigger->signalled_ns_ = fired_ns;
    return -err;
}

int dlex_target_fire(struct dlex_trigger *trigger)
{
    struct quiet before;
    take_lock(&before);
    const int err = signal_once(trigger, mark(trigger));
    release_lock(&before);
    return err;
}

static struct quiet before_fork; /* guarded by the lock */

void dlex_target_before_fork(void)
{
    struct quiet before;
    take_lock(&before);
    before_fork = before;
}

void dlex_target_in_parent(void)
{
    const struct quiet before = before_fork;
    release_lock(&before);
}

void dlex_target_in_child(struct target *own)
{
    list = own->number ? own : NULL;
    own->next = NULL;
    dlex_target_in_parent();
}
