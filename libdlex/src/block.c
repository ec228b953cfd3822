/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The life of a block: new; probed, once per site; open (its body runs); held (the body is over, the
 * finally part runs as a protected section); done (handlers, and the end).
 */
#include <errno.h>

#include "fpenv.h"
#include "protection_keys.h"
#include "signals.h"
#include "sites.h"

/* The demand of a block: its own limit, and when it can first be exceeded. */
struct demand {
    int how;
    int64_t limit_ns; /* in the clock of its kind */
    int64_t check_ns; /* CLOCK_MONOTONIC; INT64_MAX: nothing asynchronous */
};

static const struct demand no_demand = { 0, INT64_MAX, INT64_MAX };

static inline int64_t min_ns(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Adds without wrapping. INT64_MAX means never, so a sum that would overflow becomes never. */
static inline int64_t after(int64_t now_ns, int64_t ns)
{
    int64_t sum_ns;
    if (__builtin_add_overflow(now_ns, ns, &sum_ns))
        return ns > 0 ? INT64_MAX : now_ns;
    return sum_ns;
}

/* Forgets blocks that were left by longjmp, this one included: linking a record twice would make the
 * list a ring. */
static inline void discard_stale(struct thread_state *t, const struct dlex_block_ *block,
                                 uintptr_t sp)
{
    if (t->level == 0)
        return;
    dlex_discard_left(t, block->frame, sp);
    dlex_discard_in_function(t, block);
}

/* With sanitizers a record may live on a heap; then only the frame shows where the block is. */
static inline void set_place(struct thread_state *t, struct dlex_block_ *block, uintptr_t sp)
{
    const uintptr_t record = (uintptr_t)block;
    const bool on_stack = record > sp && record < block->frame;
    block->low = on_stack ? record : block->frame;
    block->seal = dlex_seal_of(block);
    *(dlex_guard_.top ? &dlex_guard_.top->inner : &t->outermost) =
        (struct dlex_place_){ block, block->frame, block->low, block->outer_depth,
                              block->resource_mark };
    t->frame = block->frame;
    t->low = block->low;
}

static inline void set_limits(struct dlex_block_ *block, const struct dlex_block_ *outer,
                              const struct demand *demand)
{
    const bool cpu = dlex_is_wcet(demand->how);
    block->how = demand->how;
    block->limit_ns = demand->limit_ns;
    block->deadline_ns = cpu ? INT64_MAX : demand->limit_ns;
    block->cpu_limit_ns = cpu ? demand->limit_ns : INT64_MAX;
    block->check_ns = demand->check_ns;
    if (outer) {
        block->deadline_ns = min_ns(block->deadline_ns, outer->deadline_ns);
        block->cpu_limit_ns = min_ns(block->cpu_limit_ns, outer->cpu_limit_ns);
        block->check_ns = min_ns(block->check_ns, outer->check_ns);
    }
}

/* Sets which blocks are protected in the body, and at which depth a checkpoint may throw. */
static inline void set_shelter(struct dlex_block_ *block, struct dlex_block_ *outer, int how)
{
    const bool cooperative = how & DLEX_COOPERATIVE_;
    block->floor = outer ? outer->floor : NULL;
    block->cooperative = outer ? outer->cooperative : 0;
    if ((how & DLEX_SHIELDED_) || (cooperative && block->outer_depth > block->cooperative))
        block->floor = block;
    if (cooperative)
        block->cooperative = block->outer_depth + 1;
    else if (how & DLEX_SHIELDED_)
        block->cooperative = 0;
}

/* The opening of a block is a few dozen stores. A call would pass the demand through memory and save
 * six registers, which adds a tenth to the cost of the opening. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* With the guard held. */
ALWAYS_INLINE void link_block(struct thread_state *t, struct dlex_block_ *block,
                              const struct demand *demand)
{
    const uintptr_t sp = dlex_stack_pointer();
    if (!t->exit_state)
        t->exit_state = dlex_exit_state();
    if (dlex_is_exiting(t))
        dlex_forget_at_exit(t);
    discard_stale(t, block, sp);
    block->outer = dlex_guard_.top;
    block->outer_depth = dlex_guard_.depth - 1;
    block->outer_level = t->level;
    set_shelter(block, dlex_guard_.top, demand->how);
    block->owner = NULL;
    block->exception = NULL;
    block->back = NULL;
    block->resource_mark = t->resource_count;
    block->handled = 0;
    block->mask_known = 0;
    set_limits(block, dlex_guard_.top, demand);
    fpenv_save(block->fp_control);
    block->key_rights = protection_keys_save();
    set_place(t, block, sp);
    t->level++;
    block->phase = DLEX_OPEN_;
    dlex_set_top(block);
}

int dlex_begin_(struct dlex_block_ *block)
{
    dlex_try_within_disable();
    link_block(&dlex_thread_state, block, &no_demand);
    dlex_try_within_enable();
    return 1;
}

/*
 * CPU time cannot run faster than wall time, so before check_ns there is no need to look. That holds if
 * wall time is read first. Reading it after the CPU time would set the timer late by the time between
 * the two: about half of a system call, 0.5 us with the cold caches that a long body leaves. With limits
 * no farther in the past than INT64_MIN / 2 no difference overflows.
 */
static struct demand demand_of(int how, int64_t ns, int64_t *now_ns)
{
    struct demand d = { .how = how };
    const int kind = how & DLEX_KINDS_;
    *now_ns = dlex_clock_ns_();
    if (kind == DLEX_WCET_)
        d.limit_ns = after(dlex_cpu_ns(), ns);
    else if (kind == DLEX_ABS_)
        d.limit_ns = ns;
    else if (kind == DLEX_REL_)
        d.limit_ns = after(*now_ns, ns);
    if (d.limit_ns < INT64_MIN / 2)
        d.limit_ns = INT64_MIN / 2;
    d.check_ns = kind == DLEX_WCET_ ? after(*now_ns, ns) : d.limit_ns;
    return d;
}

/* With the guard held: makes sure that the expiry will be noticed. */
static void watch(struct thread_state *t, struct dlex_block_ *block, int64_t check_ns,
                  int64_t now_ns)
{
    int err = 0;
    if (check_ns <= now_ns)
        dlex_note_pending(t, now_ns);
    else if (t->armed_ns > now_ns)
        err = check_ns < t->armed_ns ? dlex_arm(t, check_ns) : 0;
    else if (block->check_ns > now_ns)
        err = dlex_arm(t, block->check_ns);
    else
        err = dlex_rearm(t, now_ns);
    if (err < 0)
        dlex_throw_timer_error(t, err, block->site->where);
}

/* The guard must be free, or held by sections of the application, when the body starts. */
static void release_to(struct thread_state *t, int depth, enum expiry_source source)
{
    DLEX_FENCE_();
    dlex_guard_.depth = depth;
    if (dlex_guard_.pending && depth == 0)
        dlex_attend(t, source);
}

int dlex_begin_within_(struct dlex_block_ *block, int64_t ns, int how)
{
    struct thread_state *t = &dlex_thread_state;
    int64_t now_ns;
    struct demand demand = demand_of(how, ns, &now_ns);
    dlex_try_within_disable();
    if (how & DLEX_COOPERATIVE_)
        demand.check_ns = INT64_MAX;
    link_block(t, block, &demand);
    if (how & DLEX_COOPERATIVE_) {
        dlex_check(t, now_ns, EXPIRY_OPENING);
        return 1;
    }
    if (demand.check_ns != INT64_MAX)
        watch(t, block, demand.check_ns, now_ns);
    if (dlex_is_wcet(how) && t->has_timer) {
        dlex_notify_prepare_running(&t->notify);
        t->looked_ns = 0;
    }
    release_to(t, how & DLEX_SHIELDED_ ? 0 : block->outer_depth, EXPIRY_OPENING);
    return 1;
}

static void end_measured(const struct dlex_block_ *block)
{
    const int64_t wall_ns = dlex_now_ns() - block->started_ns;
    const int64_t cpu_ns = dlex_cpu_ns() - block->started_cpu_ns;
    const struct dlex_measure_ *const site = block->site->measure;
    const bool missed = block->given_ns <= (dlex_is_wcet(site->how) ? cpu_ns : wall_ns);
    if (block->exception)
        dlex_site_left(site);
    else
        dlex_site_ended(site, missed, wall_ns, cpu_ns);
}

/* A function of its own, so that the end of other blocks stays short. */
__attribute__((noinline)) static void end_marked(struct dlex_block_ *block)
{
    if (block->how & DLEX_MEASURED_)
        end_measured(block);
    if (block->how & DLEX_TRIGGERED_)
        dlex_trigger_unbind(&dlex_thread_state, block);
}

/* Ends the body. The guard is taken first. So an expiry here either still finds the block open and
 * comes back to it by dlex_land_, or waits until its finally part is over. */
ALWAYS_INLINE void close_block(struct dlex_block_ *block)
{
    struct thread_state *t = &dlex_thread_state;
    dlex_guard_.depth = block->outer_depth + 1;
    DLEX_FENCE_();
    if (block->how & (DLEX_MEASURED_ | DLEX_TRIGGERED_))
        end_marked(block);
    dlex_set_top(block->outer);
    t->level = block->outer_level;
    t->frame = block->outer ? block->outer->frame : UINTPTR_MAX;
    t->low = block->outer ? block->outer->low : UINTPTR_MAX;
    block->phase = DLEX_HELD_;
}

/* Handles a violation that was on its way to its owner and no longer is, because a finally part has
 * thrown or returned: if the owner is still open, it takes the violation when this block is done. */
static void note_passing(struct thread_state *t, const struct dlex_block_ *block)
{
    if (t->passing && !block->owner)
        dlex_note_pending(t, dlex_now_ns());
    if (!block->owner || block->owner == block)
        t->passing = false;
}

void dlex_land_(struct dlex_block_ *block)
{
    if (block->phase == DLEX_PROBE_) {
        block->phase = DLEX_NEW_;
        return;
    }
    if (!block->back)
        protection_keys_restore(block->key_rights);
    if (dlex_thread_state.disarmed)
        dlex_rearm_stack(&dlex_thread_state);
    close_block(block);
    note_passing(&dlex_thread_state, block);
    if (block->mask_known && !block->back)
        dlex_sigmask_restore_(block);
    else if (block->mask_known)
        dlex_sigmask_pass_(block);
    if (block->back)
        return;
    fpenv_restore(block->fp_control);
    if (block->owner == block) {
        struct dlex_violation *v = &dlex_thread_state.violation;
        v->caught_ns = block->exception == &dlex_wcet_violation ? dlex_cpu_ns() : dlex_now_ns();
        dlex_latency_note(v);
    }
    if (dlex_thread_state.resource_count > block->resource_mark)
        dlex_scoped_unwind_(&dlex_thread_state, block->resource_mark);
}

static void end_body(struct dlex_block_ *block)
{
    if (block->phase != DLEX_OPEN_)
        return;
    close_block(block);
    if (block->mask_known)
        dlex_sigmask_pass_(block);
}

int dlex_hold_(struct dlex_block_ *block)
{
    if (block->phase == DLEX_PROBE_) {
        __atomic_store_n(&block->site->finally, DLEX_FINALLY_, __ATOMIC_RELAXED);
        return 0;
    }
    end_body(block);
    return 1;
}

_Noreturn static void end_of_probe(struct dlex_block_ *block)
{
    if (__atomic_load_n(&block->site->finally, __ATOMIC_RELAXED) == DLEX_UNKNOWN_)
        __atomic_store_n(&block->site->finally, DLEX_NO_FINALLY_, __ATOMIC_RELAXED);
    dlex_jump(block->env);
}

int dlex_settle_(struct dlex_block_ *block)
{
    if (block->phase == DLEX_PROBE_)
        end_of_probe(block);
    end_body(block);
    if (block->phase == DLEX_HELD_) {
        block->phase = DLEX_DONE_;
        if (dlex_thread_state.is_ending)
            dlex_give_back(&dlex_thread_state);
        release_to(&dlex_thread_state, block->outer_depth, EXPIRY_LIFTED);
    }
    if (block->back && !block->exception)
        dlex_jump(*block->back);
    return !block->exception;
}

/* A finally part that returns: its return value counts, not that of the body. By dlex_return, blocks
 * round this one may be closed already, and the sections between are gone with them. */
static void leave_finally(struct dlex_block_ *block)
{
    struct thread_state *t = &dlex_thread_state;
    block->back = NULL;
    if (t->level < block->outer_level)
        block->phase = DLEX_DONE_;
    else if (t->passing)
        dlex_note_pending(t, dlex_now_ns());
}

void dlex_abandon_(struct dlex_block_ *block, int strict)
{
    if (strict != DLEX_LAX_ && block->phase == DLEX_OPEN_
        && block->site->finally == DLEX_FINALLY_
        && !(strict == DLEX_STRICT_UNLESS_UNWOUND_ && dlex_thread_may_be_unwound()))
        dlex_misuse("a body was left by return, break, continue, goto or a C++ exception, which "
                    "cannot run its finally part; use dlex_return or dlex_throw",
                    block->site->where);
    if (block->phase == DLEX_HELD_)
        leave_finally(block);
    if (block->phase == DLEX_OPEN_ && dlex_thread_state.is_ending && dlex_guard_.top != block)
        block->phase = DLEX_DONE_; /* forgotten, see dlex_forget_at_exit */
    if (block->phase >= DLEX_OPEN_)
        dlex_settle_(block);
}

void dlex_depart_(void *frame, sigjmp_buf *back)
{
    struct thread_state *t = &dlex_thread_state;
    dlex_try_within_disable();
    dlex_discard_left(t, (uintptr_t)frame, dlex_stack_pointer());
    struct dlex_block_ *block = dlex_guard_.top;
    if (block && block->frame == (uintptr_t)frame) {
        block->back = back;
        dlex_jump(block->env);
    }
    dlex_try_within_enable();
}
