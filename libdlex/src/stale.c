/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks that were left by a longjmp of the application. Their records lie in stack frames that
 * no longer exist, so the stack pointer tells, unless the thread is on another stack just now.
 */
#include <signal.h>

#include "thread.h"

static bool on_alternate_stack(void)
{
    stack_t stack;
    return sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK);
}

void dlex_discard_below(struct thread_state *t, uintptr_t sp)
{
    if (!t->top || t->top->frame >= sp || on_alternate_stack())
        return;
    while (t->top && t->top->frame < sp) {
        t->floor = t->top->outer_floor;
        t->top = t->top->outer;
    }
}
