/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * thread.h: the state of one thread, and the steps that share it.
 *
 * Only its own thread and the signal handler on that thread access it, so there is no lock and no
 * atomic. Code that changes it holds dlex_guard_.depth above zero, and the handler then only sets
 * dlex_guard_.pending. The clock decides about an expiry, never the signal or its contents: signals of
 * a timer that was armed earlier, or disarmed since (before Linux 6.13), may always arrive.
 */
#ifndef DLEX_THREAD_H
#define DLEX_THREAD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include <dlex/dlex.h>

#include "cancellation.h"
#include "notify.h"
#include "target.h"

struct thread_state {
    uintptr_t frame;           /* of the innermost open block, known also when its record is gone */
    uintptr_t low;
    int level;                 /* number of open blocks */
    struct dlex_place_ outermost; /* if a block is open */
    struct dlex_resource_ *resources; /* scoped.c: those on record, newest first */
    uint64_t resource_count;          /* how many were put on record so far: the number of the newest */
    const volatile int *exit_state; /* dlex_exit_state(); NULL: no block was opened yet */
    bool passing;              /* a violation is on its way to the block that owns it */
    const ucontext_t *interrupted; /* in the handler: what its return would restore */
    const ucontext_t *disarmed; /* NULL, or after a jump: its alternate stack and its mask are not in force yet */
    struct cancellation cancellation; /* while expiries are looked at: what was in force before */
    int64_t armed_ns;          /* when the timer expires; a time in the past means unarmed */
    int64_t noticed_ns;        /* when the oldest pending expiry was noticed */
    int64_t noticed_cpu_ns;    /* CPU time then */
    int64_t looked_ns;         /* last look at a WCET that had not run out; 0: no earlier look to compare with */
    int64_t looked_cpu_ns;     /* CPU time then */
    long looked_switches;      /* how often the thread had gone to sleep then */
    int64_t fork_cpu_ns;       /* CPU time at the last fork */
    struct notify notify;
    struct target target;
    bool has_timer;
    bool end_is_watched;       /* the end of the thread will give back what the thread has now */
    bool is_ending;            /* the end has begun: nothing is kept beyond the outermost block */
    volatile unsigned forks;   /* how often this thread came back from fork as a child */
    int timer_errno;           /* why the last block that threw dlex_timer_error threw it */
    struct dlex_violation violation;
};

extern __thread struct thread_state dlex_thread_state __attribute__((tls_model("initial-exec")));

/* With the guard held. */
static inline void dlex_set_top(struct dlex_block_ *top)
{
    dlex_guard_.top = top;
    dlex_guard_.deadline_ns = top ? top->deadline_ns : INT64_MAX;
    dlex_guard_.cpu_limit_ns = top ? top->cpu_limit_ns : INT64_MAX;
}

static inline bool dlex_is_wcet(int how)
{
    return (how & DLEX_KINDS_) == DLEX_WCET_;
}

/* Returns when the trigger of the block was fired; 0: it was not, or there is none. See mark in
 * target.c for the order. */
static inline int64_t dlex_fired_ns(const struct dlex_block_ *block)
{
    return block->how & DLEX_TRIGGERED_
           ? __atomic_load_n(&block->trigger->fired_ns_, __ATOMIC_SEQ_CST) : 0;
}

/* trigger.c, with the guard held. unbind: the body of a block that is bound to a trigger has ended.
 * count_bound: blocks were forgotten, and those that are left are counted. */
void dlex_trigger_unbind(struct thread_state *t, struct dlex_block_ *block);
void dlex_trigger_count_bound(struct thread_state *t);

/*
 * unwound.c. exit_state: the address of a word whose bit DLEX_EXITING shows that pthread_exit or a
 * cancellation is ending the calling thread; the word is zero for ever where that cannot be known.
 * may_be_unwound: the same question, but true where that cannot be known. is_in_libc_handler: whether a
 * signal that found this mask in force has interrupted a handler of libc itself, which must not be left
 * in the middle. All are safe in the signal handler.
 */
enum { DLEX_EXITING = 0x10 }; /* a bit of glibc itself, since NPTL exists */
const volatile int *dlex_exit_state(void);
bool dlex_thread_may_be_unwound(void);
bool dlex_is_in_libc_handler(const sigset_t *mask);

/* Whether the calling thread is exiting; false if it has opened no block. */
static inline bool dlex_is_exiting(const struct thread_state *t)
{
    return t->exit_state && (*t->exit_state & DLEX_EXITING);
}

/* thread_end.c, with the guard held: if the thread is ending, forgets the blocks and sections that were
 * open when that began, once. */
void dlex_forget_at_exit(struct thread_state *t);

/* exception.c: with the guard held, jumps to the innermost open block, or ends the program. */
_Noreturn void dlex_unwind(const struct dlex_type *type,
                           struct dlex_block_ *owner, const char *origin);
/* Throws dlex_timer_error, with the guard held; err is a negative errno value. */
_Noreturn void dlex_throw_timer_error(struct thread_state *t, int err, const char *origin);
/* jump.c: returns from the sigsetjmp that filled the target; the signal mask stays. */
_Noreturn void dlex_jump(sigjmp_buf target);
/* Reports what the programmer did wrong, and aborts. */
_Noreturn void dlex_misuse(const char *what, const char *where);

/* stale.c: returns an address below all frames of the caller, even when link-time optimisation has
 * inlined the caller into the program (__builtin_frame_address would then be the program's own frame). */
uintptr_t dlex_stack_pointer(void);
/* stale.c, with the guard held: forgets blocks that were left without closing. left: as seen from the caller,
 * with this stack frame (0: unknown) and a stack pointer of at least sp. left_by: as seen from the code that
 * a signal has interrupted, whose handler may run on another stack. */
void dlex_discard_left(struct thread_state *t, uintptr_t frame, uintptr_t sp);
void dlex_discard_left_by(struct thread_state *t, const ucontext_t *interrupted);
/* Returns what block->seal must be for the record to be believed. */
__attribute__((no_sanitize_address))
static inline uintptr_t dlex_seal_of(const struct dlex_block_ *block)
{
    const uintptr_t level = (uintptr_t)block->outer_level;
    return (uintptr_t)block ^ ((uintptr_t)block->outer << 1) ^ (block->frame << 2) ^ ~level;
}

/* stale.c, with the guard held: forgets blocks that were left within the function that now opens this
 * block, whose record may be one of theirs. */
void dlex_discard_in_function(struct thread_state *t, const struct dlex_block_ *block);

/* expiry.c: delivers what has expired and may be delivered; the guard is free before and after. */
enum expiry_source { EXPIRY_SIGNAL, EXPIRY_OPENING, EXPIRY_LIFTED, EXPIRY_CHECKPOINT };
void dlex_attend(struct thread_state *t, enum expiry_source source);
/* Does the same where checkpoints may deliver: at a checkpoint, and at the opening of a cooperative
 * block. */
void dlex_check(struct thread_state *t, int64_t now_ns, enum expiry_source source);
/* After a jump out of the signal handler, with the guard held, if t->disarmed: gives the thread its alternate
 * stack and its signal mask back. */
void dlex_rearm_stack(struct thread_state *t);
/* With the guard held: records that dlex_attend has to be called as soon as the guard is free. */
void dlex_note_pending(struct thread_state *t, int64_t now_ns);
/* Create the timer of the thread, if there is none; arm it for this time. Return 0 or a negative errno
 * value. */
int dlex_prepare(struct thread_state *t);
int dlex_arm(struct thread_state *t, int64_t deadline_ns);
/* Arms the timer for the next expiry; what has expired already becomes pending. Returns 0 or a negative
 * errno value. */
int dlex_rearm(struct thread_state *t, int64_t now_ns);

/* latency.c: counts a violation that has reached its block. Lock-free. */
void dlex_latency_note(const struct dlex_violation *v);

/* timer.c, for expiry.c, which passes its signal handler: timer.c does not know who decides about an
 * expiry. prepare: creates the timer of the thread, if there is none. arm: prepares and arms it. Return 0
 * or a negative errno value. */
typedef void dlex_signal_fn(int number, siginfo_t *info, void *context);
int dlex_timer_prepare(struct thread_state *t, dlex_signal_fn *on_signal);
int dlex_timer_arm(struct thread_state *t, int64_t deadline_ns, dlex_signal_fn *on_signal);
/* With the guard held: gives the timer back, if there is one. The next arming creates another. */
void dlex_timer_drop(struct thread_state *t);
/* thread_end.c: makes sure that the end of this thread gives back its timer and its resources. Returns
 * 0, or -EAGAIN when no key is left in the process, or -ENOMEM. */
int dlex_watch_thread_end(struct thread_state *t);
/* thread_end.c, with the guard held, in a thread with is_ending set: gives everything back if no block
 * is open. */
void dlex_give_back(struct thread_state *t);
/* scoped.c, with the guard held. unwind: releases the resources with a number above the mark. end:
 * releases those that the blocks still open have acquired, and forgets those that earlier blocks have
 * left to the program. */
void dlex_scoped_unwind_(struct thread_state *t, uint64_t mark);
void dlex_scoped_end_(struct thread_state *t);

#endif
