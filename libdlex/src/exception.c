/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "thread.h"

const struct dlex_type dlex_exception = { "dlex_exception", NULL };
dlex_define_exception(dlex_timing_violation) dlex_extends(dlex_exception);
dlex_define_exception(dlex_deadline_violation) dlex_extends(dlex_timing_violation);
dlex_define_exception(dlex_wcet_violation) dlex_extends(dlex_timing_violation);
dlex_define_exception(dlex_trigger_violation) dlex_extends(dlex_deadline_violation);
dlex_define_exception(dlex_timer_error) dlex_extends(dlex_exception);

static dlex_terminate_fn *terminate_handler;

/* The handler may be set by one thread and called by another: release and acquire pair here and in
 * terminate. */
dlex_terminate_fn *dlex_set_terminate(dlex_terminate_fn *handler)
{
    return __atomic_exchange_n(&terminate_handler, handler, __ATOMIC_ACQ_REL);
}

static const char *advice_on(int timer_errno)
{
    switch (timer_errno) {
    case EAGAIN:
        return "raise the number of signals that the user may have pending (ulimit -i)";
    case EBUSY:
        return "another part of the program handles libdlex's signal; see dlex_use_signal";
    default:
        return "the kernel refuses timers";
    }
}

/* timer_errno is a copy: errno may have changed, because finally parts have run since it was set. */
static void say_why_no_timer(int timer_errno)
{
    fprintf(stderr, ": %s: %s", strerror(timer_errno), advice_on(timer_errno));
}

_Noreturn static void terminate(const struct dlex_type *type, const char *origin)
{
    dlex_terminate_fn *const handler = __atomic_load_n(&terminate_handler, __ATOMIC_ACQUIRE);
    if (handler)
        handler(type, origin);
    fprintf(stderr, "libdlex: %s from %s was not caught by any block", type->name, origin);
    if (type == &dlex_timer_error && dlex_thread_state.timer_errno)
        say_why_no_timer(dlex_thread_state.timer_errno);
    fputs("; the program aborts\n", stderr);
    abort();
}

_Noreturn void dlex_misuse(const char *what, const char *where)
{
    fprintf(stderr, "libdlex: %s: %s; the program aborts\n", where, what);
    abort();
}

_Noreturn void dlex_unwind(const struct dlex_type *type,
                           struct dlex_block_ *owner, const char *origin)
{
    struct dlex_block_ *block = dlex_guard_.top;
    if (!block)
        terminate(type, origin);
    block->exception = type;
    block->owner = owner;
    block->origin = origin;
    block->back = NULL;
    dlex_jump(block->env);
}

_Noreturn void dlex_throw_timer_error(struct thread_state *t, int err, const char *origin)
{
    errno = t->timer_errno = -err;
    dlex_unwind(&dlex_timer_error, NULL, origin);
}

/* Throws an exception that starts or goes on in the function with this frame. */
_Noreturn static void unwind_from(uintptr_t frame, const struct dlex_type *type,
                                  struct dlex_block_ *owner, const char *origin)
{
    dlex_try_within_disable();
    dlex_forget_at_exit(&dlex_thread_state);
    dlex_discard_left(&dlex_thread_state, frame, dlex_stack_pointer());
    dlex_unwind(type, owner, origin);
}

void dlex_throw_(const struct dlex_type *type, const char *origin, void *frame)
{
    unwind_from((uintptr_t)frame, type, NULL, origin);
}

void dlex_rethrow_(struct dlex_block_ *block)
{
    if (!block->handled)
        dlex_misuse("dlex_rethrow outside a handler", block->site->where);
    unwind_from(block->frame, block->exception, NULL, block->origin);
}

/* A violation on its way to an outer block keeps its owner. The owner passes it on as a plain exception
 * of its own. */
void dlex_propagate_(struct dlex_block_ *block)
{
    struct dlex_block_ *owner = block->owner == block ? NULL : block->owner;
    unwind_from(block->frame, block->exception, owner, block->origin);
}

int dlex_catches_(struct dlex_block_ *block, const struct dlex_type *type)
{
    if (!block->exception || (block->owner && block->owner != block))
        return 0;
    for (const struct dlex_type *t = block->exception; t; t = t->parent) {
        if (t == type) {
            block->handled = 1;
            return 1;
        }
    }
    return 0;
}
