/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds blocks that were left by a longjmp of the application. Their records may lie in stack frames
 * that no longer exist, and may hold anything by now. So each block stores the place of the block
 * inside it, and the thread's state stores the place of the outermost one and the frame of the
 * innermost. A record that may be gone is believed only while its seal is whole. A frame below the
 * stack pointer was left, unless the thread is on another stack just now. A block that was left within
 * its own function is found when that function opens another one, which knows what encloses it in the
 * source.
 */
#include <signal.h>

#include "thread.h"

/* Whether code with this stack pointer runs on the alternate stack, if there is one. */
static bool is_on(const stack_t *alternate, uintptr_t sp)
{
    return !(alternate->ss_flags & SS_DISABLE)
           && sp - (uintptr_t)alternate->ss_sp - 1 < alternate->ss_size;
}

static uintptr_t interrupted_sp(const ucontext_t *uc)
{
#if defined(__x86_64__)
    return (uintptr_t)uc->uc_mcontext.gregs[REG_RSP];
#elif defined(__i386__)
    return (uintptr_t)uc->uc_mcontext.gregs[REG_ESP];
#elif defined(__aarch64__)
    return (uintptr_t)uc->uc_mcontext.sp;
#else
    /* The handler's own frame is below the interrupted ones, unless it is on the alternate stack: then nothing
     * is known, and no block counts as left. */
    const uintptr_t own = (uintptr_t)__builtin_frame_address(0);
    return is_on(&uc->uc_stack, own) ? 0 : own;
#endif
}

/*
 * Whether one stack cannot reach from one address to the other, because the thread's static
 * thread-local memory lies between them: in a thread that libc created, this memory lies above the
 * whole stack. So a handler on a stack above it is recognised, even where the kernel does not report it
 * (SS_AUTODISARM).
 */
static bool are_on_different_stacks(uintptr_t below, uintptr_t above)
{
    const uintptr_t own = (uintptr_t)&dlex_guard_;
    return below < own && own < above;
}

static bool is_gone(const struct dlex_place_ *place, uintptr_t frame, uintptr_t sp)
{
    return (place->frame < frame || place->low < sp)
           && !are_on_different_stacks(place->low, sp);
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

/* Keeps the blocks from top outwards, with the guard held, which is one section. Sections that were
 * opened in the forgotten blocks end with them. */
static void keep(struct thread_state *t, struct dlex_block_ *top, int level, int outer_depth)
{
    dlex_guard_.depth = outer_depth + 1;
    t->level = level;
    dlex_set_top(top);
    t->frame = top ? top->frame : UINTPTR_MAX;
    t->low = top ? top->low : UINTPTR_MAX;
    if (t->target.bound)
        dlex_trigger_count_bound(t);
}

static bool may_be_left(const struct thread_state *t, uintptr_t frame, uintptr_t sp)
{
    return t->level > 0 && (t->frame < frame || t->low < sp);
}

__attribute__((no_sanitize_address))
static void discard(struct thread_state *t, uintptr_t frame, uintptr_t sp)
{
    const struct dlex_place_ *place = &t->outermost;
    struct dlex_block_ *last = NULL;
    int level = 0;
    while (level < t->level && !is_gone(place, frame, sp) && is_whole(place->block)) {
        last = place->block;
        place = &last->inner;
        level++;
    }
    if (level < t->level)
        keep(t, last, level, place->outer_depth);
}

void dlex_discard_left(struct thread_state *t, uintptr_t frame, uintptr_t sp)
{
    stack_t alternate;
    if (may_be_left(t, frame, sp) && (sigaltstack(NULL, &alternate) < 0 || !is_on(&alternate, sp)))
        discard(t, frame, sp);
}

void dlex_discard_left_by(struct thread_state *t, const ucontext_t *interrupted)
{
    const uintptr_t sp = interrupted_sp(interrupted);
    if (may_be_left(t, 0, sp) && !is_on(&interrupted->uc_stack, sp))
        discard(t, 0, sp);
}

/* Returns the innermost block that may be open where this block begins, if that is a block of the same
 * function: the block whose body this block stands in. */
static const struct dlex_block_ *open_around(const struct dlex_block_ *block)
{
    const struct dlex_block_ *around = block->enclosing;
    if (around && around->phase != DLEX_OPEN_)
        around = around->outer;
    return around && around->frame == block->frame ? around : NULL;
}

/* In C every block knows what encloses it. The frame identifies this call of the function: a function
 * that calls sigsetjmp is not inlined into another. */
__attribute__((no_sanitize_address))
static void discard_not_enclosing(struct thread_state *t, const struct dlex_block_ *block)
{
    const struct dlex_block_ *const around = open_around(block);
    if (t->frame != block->frame || dlex_guard_.top == around)
        return;
    const struct dlex_place_ *place = &t->outermost;
    struct dlex_block_ *last = NULL;
    int level = 0;
    while (level < t->level && is_whole(place->block)
           && (around ? last != around : place->frame != block->frame)) {
        last = place->block;
        place = &last->inner;
        level++;
    }
    if (level < t->level)
        keep(t, last, level, place->outer_depth);
}

/* In C++ only a block that is being opened again is recognised. Such a block was left in the function
 * that now opens it, so its frame still exists. */
__attribute__((no_sanitize_address))
static void discard_reused(struct thread_state *t, const struct dlex_block_ *block)
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

void dlex_discard_in_function(struct thread_state *t, const struct dlex_block_ *block)
{
    if (block->enclosing == block)
        discard_reused(t, block);
    else if (!block->enclosing || block->enclosing->frame == block->frame)
        discard_not_enclosing(t, block);
}
