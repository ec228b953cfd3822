/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Binds blocks to triggers. The owner's side takes no lock: a block that ends clears the number of its
 * thread in the trigger, and a signal that is on its way then finds no fired block. expiry.c looks at
 * the marks where it looks at the clock.
 */
#include "thread.h"

/* A cooperative block needs no signal: it looks at its checkpoints. */
static bool needs_signal(const struct dlex_block_ *block)
{
    return !(block->how & DLEX_COOPERATIVE_);
}

static bool is_needed_outside(const struct dlex_block_ *block)
{
    const struct dlex_block_ *b = block->outer;
    while (b && !((b->how & DLEX_TRIGGERED_) && b->trigger == block->trigger && needs_signal(b)))
        b = b->outer;
    return b;
}

/* Only the thread itself counts. A handler that counts in between has counted back when it returns. */
static void add_bound(struct thread_state *t, int change)
{
    const unsigned bound = __atomic_load_n(&t->target.bound, __ATOMIC_RELAXED);
    __atomic_store_n(&t->target.bound, bound + (unsigned)change, __ATOMIC_RELAXED);
}

static void check_free(const struct dlex_block_ *block, const struct dlex_trigger *trigger)
{
    if (!block)
        dlex_misuse("no block is open", "dlex_trigger_bind");
    if ((block->how & DLEX_TRIGGERED_) && block->trigger != trigger)
        dlex_misuse("the block is bound to another trigger; nest two blocks", block->site->where);
}

/* A block that was left by longjmp, or by the end of its thread, has left its number behind. */
static void publish_thread(const struct dlex_block_ *block, struct dlex_trigger *trigger, uint64_t number)
{
    const uint64_t previous = __atomic_exchange_n(&trigger->thread_, number, __ATOMIC_SEQ_CST);
    if (previous && previous != number && dlex_target_is_bound(previous))
        dlex_misuse("the trigger has a block in another thread", block->site->where);
}

/*
 * With the guard held. Not inlined, here and below: GCC 12 with -fsanitize=null tests the address of a thread-local object by
 * the flags of an addition, which the linker may replace by an instruction that sets no flags.
 */
static __attribute__((noinline)) void bind(struct thread_state *t, struct dlex_block_ *block, struct dlex_trigger *trigger)
{
    if (needs_signal(block)) {
        const int err = dlex_prepare(t);
        if (err < 0)
            dlex_throw_timer_error(t, err, block->site->where);
        dlex_target_enter(&t->target);
    }
    block->trigger = trigger;
    block->how |= DLEX_TRIGGERED_;
    if (block->cpu_limit_ns == INT64_MAX)
        block->cpu_limit_ns = DLEX_LOOK_;
    dlex_set_top(block);
    if (needs_signal(block)) {
        publish_thread(block, trigger, t->target.number);
        add_bound(t, 1);
    }
}

/* If the trigger is fired, the block is one that is opened too late. */
static __attribute__((noinline)) void release(struct thread_state *t, const struct dlex_block_ *block)
{
    const int depth = dlex_guard_.depth - 1;
    const int64_t now_ns = dlex_fired_ns(block) ? dlex_now_ns() : 0;
    if (now_ns && needs_signal(block))
        dlex_note_pending(t, now_ns);
    DLEX_FENCE_();
    dlex_guard_.depth = depth;
    if (dlex_guard_.pending && depth == 0)
        dlex_attend(t, EXPIRY_OPENING);
    if (now_ns && !needs_signal(block))
        dlex_check(t, now_ns, EXPIRY_OPENING);
}

void dlex_trigger_bind(struct dlex_trigger *trigger)
{
    struct thread_state *t = &dlex_thread_state;
    dlex_try_within_disable();
    dlex_discard_left(t, 0, dlex_stack_pointer());
    struct dlex_block_ *const block = dlex_guard_.top;
    check_free(block, trigger);
    if (!(block->how & DLEX_TRIGGERED_))
        bind(t, block, trigger);
    release(t, block);
}

/* First the block is no longer bound: a handler that binds the same trigger in here clears the number
 * when it returns. */
void dlex_trigger_unbind(struct thread_state *t, struct dlex_block_ *block)
{
    block->how &= ~DLEX_TRIGGERED_;
    DLEX_FENCE_();
    if (!needs_signal(block))
        return;
    if (!is_needed_outside(block))
        __atomic_store_n(&block->trigger->thread_, 0, __ATOMIC_RELAXED);
    add_bound(t, -1);
}

void dlex_trigger_count_bound(struct thread_state *t)
{
    unsigned bound = 0;
    for (const struct dlex_block_ *b = dlex_guard_.top; b; b = b->outer)
        bound += (b->how & DLEX_TRIGGERED_) && needs_signal(b);
    __atomic_store_n(&t->target.bound, bound, __ATOMIC_RELAXED);
}

int dlex_trigger_fire(struct dlex_trigger *trigger)
{
    dlex_try_within_disable();
    const int err = dlex_target_fire(trigger);
    dlex_try_within_enable();
    return err;
}

void dlex_trigger_reset(struct dlex_trigger *trigger)
{
    __atomic_exchange_n(&trigger->fired_ns_, 0, __ATOMIC_SEQ_CST);
}
