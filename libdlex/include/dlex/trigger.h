/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlex/trigger.h: one thread expires a block that is open in another thread.
 *
 *     static struct dlex_trigger seek;           // zero: not fired, bound to no block
 *     static _Atomic int64_t seek_to_ns;         // the request, which the program defines
 *
 *     // the thread that decodes
 *     for (;;) {
 *         dlex_trigger_reset(&seek);
 *         follow(atomic_exchange(&seek_to_ns, NO_SEEK));   // after the reset: see below
 *         dlex_try_within_abs(deadline_ns) {
 *             dlex_trigger_bind(&seek);
 *             decode(frame);                     // abandoned at the deadline, or when the trigger is fired
 *         } dlex_handle dlex_when(dlex_trigger_violation) {
 *             drop(frame);
 *         } dlex_when(dlex_deadline_violation) {
 *             show_previous();
 *         } dlex_end
 *     }
 *
 *     // any other thread
 *     atomic_store(&seek_to_ns, target_ns);      // before the firing
 *     dlex_trigger_fire(&seek);
 *
 * THE CONTRACT
 *
 * Firing a trigger makes the present moment a deadline of each block that is bound to the trigger. The
 * rest is the contract of dlex/within.h: the block is left at any instruction, inner blocks are passed
 * over and run their finally parts, the outermost of several expired blocks takes its violation,
 * protected sections, shielded blocks and cooperative blocks delay it as they delay that of a deadline.
 * The violation is dlex_trigger_violation, a descendant of dlex_deadline_violation, so handlers for
 * deadlines take it too. It has this type also in a block with a WCET, and if the block's own
 * constraint has expired as well. Its clock is CLOCK_MONOTONIC, and deadline_ns of dlex_last_violation
 * is the time of the firing.
 *
 * A trigger stays fired until it is reset. A block that is bound while the trigger is fired is violated
 * at once, by dlex_trigger_bind. A firing after the end of the body touches nothing: not the handlers
 * of the block, and no later block, unless that is bound to the same trigger before a reset. Firing a
 * fired trigger changes nothing. It is then harmless that several threads fire.
 *
 * No firing gets lost if the program stores its request before it fires, and the owner of the blocks
 * reads the request after the reset, as above. dlex_trigger_fire releases what its thread wrote before,
 * and dlex_trigger_reset and the handler of the violation acquire it.
 *
 * Ownership. The trigger belongs to the program. It must exist while a block is bound to it and until
 * every call of dlex_trigger_fire has returned. It must not move. The blocks of a trigger belong to one
 * thread at a time, and that thread may end at any moment: firing then does nothing. The blocks may be
 * nested, for example a block and an island in its protected section. To expire two threads, fire two
 * triggers. A trigger works in one process. A forked child has copies of its parent's triggers, and
 * with them it reaches its own blocks only.
 *
 * Cost. Blocks without a trigger cost nothing more. Binding costs some stores and two atomic exchanges;
 * the first binding of a thread also prepares the thread, as dlex_thread_init does, which takes some
 * microseconds. Firing takes a lock of the library and makes up to four system calls. It wakes the
 * owner by the library's signal, at most once for each firing after a reset. That signal may arrive
 * after the block has ended: as every leftover it touches nothing, but may make a call that sleeps
 * return EINTR, unless dlex_idle was called first.
 *
 * What is not immediate. A thread that waits in a protected section, as in a condition variable or in a
 * system call, is not woken: that takes the violation at the end of the section. A wait for a
 * dlex_scoped_mutex_lock or for a lock of libdlex-guard notices a firing after up to 10 ms. A
 * cooperative block notices it at its next checkpoint. Programs for measuring (dlex/benchmark.h) bind
 * and fire as others do: the body ends early and counts as left by an exception.
 *
 * exec. A thread that binds triggers and that another thread may fire calls dlex_idle before exec,
 * outside its bound blocks, with either notification.
 *
 * The idea is that of asynchronous transfer of control: Ada's select with a triggering alternative, and
 * AsynchronouslyInterruptedException.fire() of the Real-Time Specification for Java.
 */
#ifndef DLEX_TRIGGER_H
#define DLEX_TRIGGER_H

#include <stdint.h>

#include <dlex/exception.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts as zero, as a static one does: struct dlex_trigger seek = { 0 }. The members belong to the
 * library; all but signalled_ns are accessed atomically. */
struct dlex_trigger {
    int64_t fired_ns_;     /* CLOCK_MONOTONIC; 0: not fired */
    int64_t signalled_ns_; /* the last firing that was signalled */
    uint64_t thread_;      /* the library's number of the thread with a bound block; 0: none */
};

/* A trigger to which the block is bound was fired. Its parent is dlex_deadline_violation. */
extern DLEX_API const struct dlex_type dlex_trigger_violation;

/*
 * Binds the innermost open block of this thread, timed or dlex_try, to the trigger, until its body ends
 * in whatever way. Best the first statement of the body. Throws the violation at once if the trigger is
 * fired, unless something delays it. If the thread cannot be prepared, throws dlex_timer_error with the
 * reason in errno, as the opening of a timed block does; not in a cooperative block, which needs no
 * signal. Another call for the same block and trigger does nothing. These abort the program: no open
 * block, a second trigger for one block (nest two blocks), and a trigger with a block in another
 * thread. Not in a signal handler, unless the block was opened there.
 */
DLEX_API void dlex_trigger_bind(struct dlex_trigger *trigger);

/*
 * Fires the trigger. Returns 0, also if it was fired before and if no block is bound. When it returns,
 * the signal to a bound block has been sent. Or returns -EAGAIN if the user has as many signals pending
 * as RLIMIT_SIGPENDING allows: the trigger is fired, but its block may notice that only at its next
 * signal, checkpoint or end of a section; call again to send the signal.
 *
 * Any thread, also one that does not use the library, also in signal handlers and in protected
 * sections; not in a thread with asynchronous cancellation. In the thread of the block itself, the
 * violation leaves the call if nothing delays it: then it does not return. May wait for other threads
 * that fire, or bind for the first time, or end, for some microseconds each, or for longer if such a
 * thread is preempted meanwhile (the lock does not inherit priority); it never waits for the body. It
 * is a protected section, and does not change errno.
 */
DLEX_API int dlex_trigger_fire(struct dlex_trigger *trigger);

/* Makes the trigger as if it was never fired. Only the thread that binds blocks to it calls this. A
 * violation that is still delayed is forgotten. Makes no system call. Not in signal handlers. */
DLEX_API void dlex_trigger_reset(struct dlex_trigger *trigger);

#ifdef __cplusplus
}
#endif

#endif
