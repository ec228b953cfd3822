/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlex/within.h: timing constraints as exceptions (seed 000, sections 4 and 5.2).
 *
 *     dlex_try_within_rel(12 * 1000 * 1000) {
 *         decode(frame);                       // abandoned if still inside after 12 ms
 *     } dlex_handle dlex_when(dlex_deadline_violation) {
 *         show_previous();
 *     } dlex_end
 *
 * All times are int64_t nanoseconds of CLOCK_MONOTONIC.
 *
 * THE CONTRACT
 *
 * A violation leaves the body of the block whose deadline has passed, wherever the thread is at
 * that moment, by a siglongjmp out of a signal handler. So the interruptible part of a body must
 * be computation that can be thrown away at any instruction: no lock taken, no memory allocated
 * or freed, no stdio, no call that keeps a state of its own half-changed (malloc, printf, exit,
 * dlopen, getaddrinfo and most of every library). Put those between dlex_try_within_disable and
 * dlex_try_within_enable. What the body wrote before it was left stays written, up to any
 * instruction: treat its output as garbage, or make each step complete by one store. File
 * descriptors opened, memory mapped and processes started stay open, mapped and running.
 *
 * A violation is taken by the handlers of the block that owns it. Blocks inside that one are
 * passed over: their finally parts run, once each, innermost first, and their handlers do not,
 * also if they name the same type. If the owner has no handler for it, it travels on as an
 * ordinary exception, thrown by the owner. Of several deadlines that have passed, that of the
 * outermost block is the one delivered. A constraint ends with the body of its block, however
 * the body ends; an expiry that comes later touches nothing.
 *
 * A deadline that has passed when the block is opened is a violation at once: the body does not
 * run. A violation is never early. INT64_MAX means no deadline.
 *
 * Cost. A thread has one timer, armed lazily: a block makes no system call unless its deadline is
 * earlier than what the timer is armed for. The price is that an expiry may arrive after its
 * block was left; it is swallowed. Outside blocks it can still make a sleeping call (nanosleep,
 * poll, select, epoll_wait, sem_timedwait) return EINTR, once. Retry, or call dlex_idle first.
 *
 * What is restored by a jump: errno as it was at the interruption; the floating-point control
 * words (rounding, FTZ/DAZ, precision, exception masks) as they were when the block was opened,
 * on x86 and ARM64; protected sections opened inside the block end. Not restored: the signal
 * mask, if the body changed it.
 *
 * Signals. The library owns DLEX_SIGNAL in the whole process and unblocks it in each thread that
 * uses deadlines; a thread that blocks it gets no violations until it unblocks it. A handler of
 * the application may be abandoned in the middle, with its signal left blocked, if a deadline
 * passes in it: put DLEX_SIGNAL into the sa_mask of your handlers.
 *
 * Errors. If a thread can have no timer, the block that needs it throws dlex_timer_error, with
 * the reason in errno, before its body runs; the block's own handlers may take it. A thread that
 * wants to know ahead calls dlex_thread_init. After fork the child keeps its open blocks and
 * their deadlines, with a timer of its own; if it can have none they are not enforced until the
 * next block throws. With a block open, fork belongs in a protected section like any other call
 * that must not be cut in half. _Fork, vfork and raw clone are not covered. exec needs nothing.
 */
#ifndef DLEX_WITHIN_H
#define DLEX_WITHIN_H

#include <dlex/exception.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Any timing constraint; its parent is dlex_exception. */
extern DLEX_API const struct dlex_type dlex_timing_violation;
/* A dlex_try_within_rel, _abs or _abs_shielded block did not end in time. */
extern DLEX_API const struct dlex_type dlex_deadline_violation;
/* The kernel gave this thread no timer (errno EAGAIN: see RLIMIT_SIGPENDING), or another part of
 * the program handles DLEX_SIGNAL already (errno EBUSY). Its parent is dlex_exception. */
extern DLEX_API const struct dlex_type dlex_timer_error;

/* The signal that the library uses; needs <signal.h>. */
#define DLEX_SIGNAL (SIGRTMIN + 7)

/* Opens a block whose body must end within ns nanoseconds from now. */
#define dlex_try_within_rel(ns)                                                                 \
    dlex_open_(dlex_begin_rel_(&dlex_block_, (ns), DLEX_HERE_))

/* Opens a block whose body must end before this time of CLOCK_MONOTONIC. */
#define dlex_try_within_abs(ns)                                                                 \
    dlex_open_(dlex_begin_abs_(&dlex_block_, (ns), DLEX_HERE_))

/*
 * An island of interruptible computation inside a protected section. The body is interruptible,
 * by the deadline of this block and of blocks opened inside it, while every block around it stays
 * protected, as if a protected section stood round this block. The section around it is in force
 * again when the body has ended, so the finally part and the handlers run in it. A deadline of an
 * outer block that passes meanwhile is pending as usual, also if it is the same deadline: this
 * block takes its violation in the island, the outer one at the enable that follows.
 * dlex_try_within_disable in the body nests as usual. Without a protected section around it, the
 * block shields the blocks outside by itself, and their violation is delivered when its handlers
 * would begin.
 * The idea is that of a shielded cancel scope in structured concurrency, turned inside out.
 */
#define dlex_try_within_abs_shielded(ns)                                                        \
    dlex_open_(dlex_begin_shielded_(&dlex_block_, (ns), DLEX_HERE_))

/*
 * A protected section: no violation is delivered to this thread from disable to the matching
 * enable (seed 000, requirement 9). Sections nest. A violation that falls inside is delivered by
 * the outermost enable, if its block is still open. No system call. They may stand anywhere, also
 * outside blocks and round whole blocks, and in signal handlers. A section opened inside a block
 * ends with the block at the latest. enable without disable aborts the program.
 */
static inline void dlex_try_within_disable(void);
static inline void dlex_try_within_enable(void);

/* The clock of this library. Safe in signal handlers. */
DLEX_API int64_t dlex_now_ns(void);

/* Time until the earliest deadline of all open blocks of this thread (requirement 10): negative
 * when it has passed, which a protected section can see; INT64_MAX when there is none. */
DLEX_API int64_t dlex_remaining_ns(void);

/* What is known of a violation (requirement 11). */
struct dlex_violation {
    int64_t deadline_ns; /* when it should have come */
    int64_t noticed_ns;  /* when the signal handler ran, or the block was opened too late */
    int64_t released_ns; /* when the protected section that it waited for ended; 0: no wait */
    int64_t caught_ns;   /* when control was back in the block that owns it, before finally */
};

/* The last violation in this thread that reached its block; all zero when there was none. The
 * record stays until the next violation of the thread. Never NULL. */
DLEX_API const struct dlex_violation *dlex_last_violation(void);

/* How late that violation was taken: caught_ns - deadline_ns. */
DLEX_API int64_t dlex_expired_ns(void);

/*
 * Prepares the calling thread: signal handler and timer, a few microseconds. Not needed, but the
 * first block then costs no more than the others and its errors are known ahead.
 * Returns 0, or a negative errno value (-EAGAIN, -ENOMEM, -EBUSY, see dlex_timer_error).
 */
DLEX_API int dlex_thread_init(void);

/* Before a call that sleeps: forgets leftover expiries, so that they cannot interrupt it.
 * Deadlines of blocks that are open stay in force. At most one system call. */
DLEX_API void dlex_idle(void);

/* ------------------------------------------------------------------------------------------- */
/* What follows belongs to the macros. Names that end in an underscore are not an interface.    */

struct dlex_guard_ {
    volatile int depth;   /* protected sections open */
    volatile int pending; /* an expiry waits for the end of a section */
};

/* initial-exec: the handler must reach it without an allocation by the dynamic loader. */
extern DLEX_API __thread struct dlex_guard_ dlex_guard_
    __attribute__((tls_model("initial-exec")));

DLEX_API int dlex_begin_rel_(struct dlex_block_ *block, int64_t ns, const char *where);
DLEX_API int dlex_begin_abs_(struct dlex_block_ *block, int64_t ns, const char *where);
DLEX_API int dlex_begin_shielded_(struct dlex_block_ *block, int64_t ns, const char *where);
DLEX_API void dlex_lift_(void);

/* The compiler must not move memory accesses of a section out of it. */
#define DLEX_FENCE_() __asm__ __volatile__("" ::: "memory")

static inline void dlex_try_within_disable(void)
{
    dlex_guard_.depth = dlex_guard_.depth + 1;
    DLEX_FENCE_();
}

static inline void dlex_try_within_enable(void)
{
    DLEX_FENCE_();
    const int depth = dlex_guard_.depth - 1;
    dlex_guard_.depth = depth;
    if (depth <= 0 && (depth < 0 || dlex_guard_.pending))
        dlex_lift_();
}

#ifdef __cplusplus
}
#endif

#endif
