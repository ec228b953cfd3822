/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The life of a block: open (its body runs), held (the body is over, the finally part runs as a
 * protected section), done (handlers, and the end).
 */
#include <errno.h>

#include "fpenv.h"
#include "thread.h"

__thread struct dlex_guard_ dlex_guard_;
__thread struct thread_state dlex_thread_state;

/* Linking a record twice would make the list a ring. */
static inline void discard_stale(struct thread_state *t, const struct dlex_block_ *block,
                                 uintptr_t sp)
{
    if (t->level == 0)
        return;
    dlex_discard_left(t, block->frame, sp);
    dlex_discard_reused(t, block);
}

/* With sanitizers a record may live on a heap; then only the frame says where the block is. */
static inline struct nest_entry nest_entry(struct dlex_block_ *block, uintptr_t sp,
                                           struct dlex_block_ *floor)
{
    const uintptr_t record = (uintptr_t)block;
    const bool on_stack = record > sp && record < block->frame;
    return (struct nest_entry){ block, block->frame, on_stack ? record : block->frame,
                                floor };
}

/* With the guard held. */
static inline void link_block(struct thread_state *t, struct dlex_block_ *block,
                              int64_t deadline_ns, const char *where, bool shielded)
{
    const uintptr_t sp = dlex_stack_pointer();
    discard_stale(t, block, sp);
    block->outer = t->top;
    block->outer_floor = t->floor;
    block->owner = NULL;
    block->exception = NULL;
    block->where = where;
    block->deadline_ns = deadline_ns;
    block->earliest_ns = deadline_ns;
    if (t->top && t->top->earliest_ns < deadline_ns)
        block->earliest_ns = t->top->earliest_ns;
    block->outer_depth = dlex_guard_.depth - 1;
    block->outer_level = t->level;
    block->phase = DLEX_OPEN_;
    block->handled = 0;
    fpenv_save(block->fp_control);
    if (shielded)
        t->floor = block;
    if (t->level < NEST_MAX)
        t->nest[t->level] = nest_entry(block, sp, t->floor);
    t->level++;
    t->top = block;
}

int dlex_begin_(struct dlex_block_ *block, const char *where)
{
    dlex_try_within_disable();
    link_block(&dlex_thread_state, block, INT64_MAX, where, false);
    dlex_try_within_enable();
    return 1;
}

/* With the guard held: sees that the deadline will be noticed. */
static void watch(struct thread_state *t, struct dlex_block_ *block, int64_t now_ns)
{
    int err = 0;
    if (block->deadline_ns <= now_ns) {
        if (!dlex_guard_.pending)
            t->noticed_ns = now_ns;
        dlex_guard_.pending = 1;
    } else if (t->armed_ns <= now_ns) {
        err = dlex_rearm(t, now_ns);
    } else if (block->deadline_ns < t->armed_ns) {
        err = dlex_timer_arm(t, block->deadline_ns);
    }
    if (err < 0) {
        errno = -err;
        dlex_unwind(t, &dlex_timer_error, NULL, block->where);
    }
}

/* The guard must be free, or held by sections of the application, when the body starts. */
static void release_to(struct thread_state *t, int depth, enum expiry_source source)
{
    DLEX_FENCE_();
    dlex_guard_.depth = depth;
    if (dlex_guard_.pending && depth == 0)
        dlex_attend(t, source);
}

static int begin_timed(struct dlex_block_ *block, int64_t deadline_ns, int64_t now_ns,
                       const char *where, bool shielded)
{
    struct thread_state *t = &dlex_thread_state;
    dlex_try_within_disable();
    link_block(t, block, deadline_ns, where, shielded);
    if (deadline_ns != INT64_MAX)
        watch(t, block, now_ns);
    release_to(t, shielded ? 0 : block->outer_depth, EXPIRY_OPENING);
    return 1;
}

int dlex_begin_rel_(struct dlex_block_ *block, int64_t ns, const char *where)
{
    const int64_t now_ns = dlex_now_ns();
    int64_t deadline_ns;
    if (__builtin_add_overflow(now_ns, ns, &deadline_ns))
        deadline_ns = ns > 0 ? INT64_MAX : now_ns;
    return begin_timed(block, deadline_ns, now_ns, where, false);
}

int dlex_begin_abs_(struct dlex_block_ *block, int64_t ns, const char *where)
{
    return begin_timed(block, ns, dlex_now_ns(), where, false);
}

int dlex_begin_shielded_(struct dlex_block_ *block, int64_t ns, const char *where)
{
    return begin_timed(block, ns, dlex_now_ns(), where, true);
}

/* Ends the body. Protected first, so that an expiry here either still finds the block open and
 * comes back to it by dlex_land_, or waits until its finally part is over. */
static void close_block(struct dlex_block_ *block)
{
    struct thread_state *t = &dlex_thread_state;
    dlex_guard_.depth = block->outer_depth + 1;
    DLEX_FENCE_();
    t->top = block->outer;
    t->level = block->outer_level;
    t->floor = block->outer_floor;
    block->phase = DLEX_HELD_;
}

void dlex_land_(struct dlex_block_ *block)
{
    close_block(block);
    fpenv_restore(block->fp_control);
    if (block->owner == block)
        dlex_thread_state.violation.caught_ns = dlex_now_ns();
}

int dlex_hold_(struct dlex_block_ *block)
{
    if (block->phase == DLEX_OPEN_)
        close_block(block);
    return 1;
}

int dlex_settle_(struct dlex_block_ *block)
{
    if (block->phase == DLEX_OPEN_)
        close_block(block);
    if (block->phase == DLEX_HELD_) {
        block->phase = DLEX_DONE_;
        release_to(&dlex_thread_state, block->outer_depth, EXPIRY_LIFTED);
    }
    return !block->exception;
}
