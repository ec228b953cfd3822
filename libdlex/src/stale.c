/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks that were left by a longjmp of the application. Their records lie in stack frames that
 * no longer exist and may hold anything by now, so none is believed: where the outermost NEST_MAX
 * blocks are is kept in the thread's state, and deeper ones bear a seal, which is broken when
 * something was written over them. What lies below the stack pointer is left, unless the thread is
 * on another stack just now.
 */
#include <signal.h>

#include "thread.h"

static bool on_alternate_stack(void)
{
    stack_t stack;
    return sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK);
}

__attribute__((noinline)) uintptr_t dlex_stack_pointer(void)
{
    DLEX_FENCE_();
    return (uintptr_t)__builtin_frame_address(0);
}

static bool is_left(const struct nest_entry *entry, uintptr_t frame, uintptr_t sp)
{
    return entry->frame < frame || entry->low < sp;
}

/* With the guard held, which is one section: those opened in the blocks that go end with them. */
static void keep_outermost(struct thread_state *t, int level)
{
    dlex_guard_.depth = t->nest[level].outer_depth + 1;
    t->level = level;
    t->top = level ? t->nest[level - 1].block : NULL;
    t->frame = level ? t->nest[level - 1].frame : UINTPTR_MAX;
}

uintptr_t dlex_seal_of(const struct dlex_block_ *block)
{
    const uintptr_t depths = (uintptr_t)block->outer_depth << 32 ^ (uintptr_t)block->outer_level;
    return (uintptr_t)block ^ ((uintptr_t)block->outer << 1) ^ (block->frame << 2) ^ ~depths;
}

static bool top_is_left(const struct thread_state *t, uintptr_t frame, uintptr_t sp)
{
    if (t->level > NEST_MAX)
        return t->frame < frame || t->frame < sp;
    return t->level > 0 && is_left(&t->nest[t->level - 1], frame, sp);
}

/* The blocks of the table are all there, some inside them are not. */
__attribute__((no_sanitize_address))
static void discard_deep(struct thread_state *t, uintptr_t bound)
{
    struct dlex_block_ *block = t->top;
    while (t->level > NEST_MAX) {
        if (block->seal != dlex_seal_of(block))
            dlex_misuse("longjmp left blocks more than 16 deep, and their stack frames are in use "
                        "again", "a block");
        if (block->frame >= bound)
            break;
        dlex_guard_.depth = block->outer_depth + 1;
        t->level = block->outer_level;
        block = block->outer;
    }
    t->top = block;
    t->frame = block->frame;
}

void dlex_discard_left(struct thread_state *t, uintptr_t frame, uintptr_t sp)
{
    if (!top_is_left(t, frame, sp) || on_alternate_stack())
        return;
    int level = t->level < NEST_MAX ? t->level : NEST_MAX;
    while (level > 0 && is_left(&t->nest[level - 1], frame, sp))
        level--;
    if (level < NEST_MAX)
        keep_outermost(t, level);
    else
        discard_deep(t, frame > sp ? frame : sp);
}

void dlex_discard_reused(struct thread_state *t, const struct dlex_block_ *block)
{
    const int known = t->level < NEST_MAX ? t->level : NEST_MAX;
    for (int i = known - 1; i >= 0 && t->nest[i].frame == block->frame; i--) {
        if (t->nest[i].block == block) {
            keep_outermost(t, i);
            return;
        }
    }
}
