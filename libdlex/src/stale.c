/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks that were left by a longjmp of the application. Their records lie in stack frames that
 * no longer exist and may hold anything by now, so nothing here reads one: where the outermost
 * NEST_MAX blocks are is kept in the thread's state. What lies below the stack pointer is left,
 * unless the thread is on another stack just now.
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
}

void dlex_discard_left(struct thread_state *t, uintptr_t frame, uintptr_t sp)
{
    int level = t->level;
    if (level < 1 || level > NEST_MAX || !is_left(&t->nest[level - 1], frame, sp)
        || on_alternate_stack())
        return;
    while (level > 0 && is_left(&t->nest[level - 1], frame, sp))
        level--;
    keep_outermost(t, level);
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
