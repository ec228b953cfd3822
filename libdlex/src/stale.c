/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks that were left by a longjmp of the application. Their records lie in stack frames that
 * no longer exist and may hold anything by now. So where a block lives is told by the block around
 * it, and of the innermost by the thread's state; and a record that may be gone is believed only
 * while its seal is whole. What lies below the stack pointer is left, unless the thread is on
 * another stack just now.
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

__attribute__((no_sanitize_address))
static bool is_whole(const struct dlex_block_ *block)
{
    return block->seal == dlex_seal_of(block);
}

/* With the guard held, which is one section: those opened in the blocks that go end with them. */
static void keep(struct thread_state *t, struct dlex_block_ *top, int level, int outer_depth)
{
    dlex_guard_.depth = outer_depth + 1;
    t->level = level;
    dlex_set_top(top);
    t->frame = top ? top->frame : UINTPTR_MAX;
    t->low = top ? top->low : UINTPTR_MAX;
}

__attribute__((no_sanitize_address))
void dlex_discard_left(struct thread_state *t, uintptr_t frame, uintptr_t sp)
{
    if (t->level == 0 || (t->frame >= frame && t->low >= sp) || on_alternate_stack())
        return;
    const struct dlex_place_ *place = &t->outermost;
    struct dlex_block_ *last = NULL;
    int level = 0;
    while (level < t->level && place->frame >= frame && place->low >= sp
           && is_whole(place->block)) {
        last = place->block;
        place = &last->inner;
        level++;
    }
    keep(t, last, level, place->outer_depth);
}

/* Such a block was left in the function that now opens it again, so its frame is there. */
__attribute__((no_sanitize_address))
void dlex_discard_reused(struct thread_state *t, const struct dlex_block_ *block)
{
    struct dlex_block_ *open = dlex_guard_.top;
    uintptr_t frame = t->frame;
    while (open && frame == block->frame && is_whole(open)) {
        if (open == block) {
            keep(t, open->outer, open->outer_level, open->outer_depth);
            return;
        }
        open = open->outer;
        frame = open ? open->frame : UINTPTR_MAX;
    }
}
