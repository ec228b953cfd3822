/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlex/within.h: timing constraints as exceptions (seed 000, sections 4 and 5.2).
 *
 *     dlex_try_within_rel(DLEX_MS(12)) {
 *         decode(frame);                       // abandoned if still inside after 12 ms
 *     } dlex_handle dlex_when(dlex_deadline_violation) {
 *         show_previous();
 *     } dlex_end
 *
 * All times are int64_t nanoseconds: of CLOCK_MONOTONIC, or for WCETs of the CPU time of the thread.
 *
 * THE CONTRACT
 *
 * A violation leaves the body of the block whose constraint has expired, wherever the thread is at that
 * moment, by a siglongjmp out of a signal handler. So the interruptible part of a body must be
 * computation that can be thrown away at any instruction: no lock taken, no memory allocated or freed,
 * no stdio, no call that keeps a state of its own half-changed (malloc, printf, exit, dlopen,
 * getaddrinfo and most functions of any library). Put those between dlex_try_within_disable and
 * dlex_try_within_enable; or link with libdlex-guard, see dlex-guard(7), which does so for malloc,
 * stdio and mutexes; or open a cooperative block. What the body has written when it is left is garbage:
 * any part of it may be in memory, and a compiler may have kept the rest in registers, even what the
 * body writes through pointers. What was written before the body called dlex_publish() is there. So a
 * body that improves a result step by step, and whose last result counts (an anytime algorithm),
 * completes each step by one store and calls dlex_publish() after it. If a step needs two or more
 * stores, the results go into other objects, and one store says which of them counts; this store stands
 * between two dlex_publish(). File descriptors opened, memory mapped and processes started stay open,
 * mapped and running, unless they were acquired through dlex/scoped.h.
 *
 * A violation is taken by the handlers of the block that owns it. Blocks inside that one are passed
 * over: their finally parts run, once each, innermost first, but their handlers do not run, even if
 * they name the same type. If the owner has no handler for it, it travels on as an ordinary exception,
 * thrown by the owner. If several deadlines have passed, that of the outermost block is the one
 * delivered. A constraint ends with the body of its block, however the body ends; an expiry that comes
 * later touches nothing.
 *
 * A deadline that has passed when the block is opened is a violation at once: the body does not run,
 * unless a protected section or a cooperative block around it delays the violation as usual. A
 * violation is never early. INT64_MAX means no constraint.
 *
 * Cost. A thread has one timer; with the Linux notification it has one more, for WCETs of bodies that
 * sleep. The timer is armed lazily: a block makes no system call to arm it unless its constraint can
 * expire earlier than what the timer is armed for, and none to disarm it. The price is that a signal
 * may arrive after its block was left. The clock decides, not the signal, so such a leftover reaches no
 * block and is swallowed; an armed time in the past counts as unarmed. Each arming has at most one
 * signal. A block arms at most once when it opens, and a signal arms at most once, for what is still to
 * come. So there are never more leftovers than blocks, and after a leftover outside blocks no other
 * comes before the next block. But a leftover can make a call that sleeps (nanosleep, poll, select,
 * epoll_wait, sem_timedwait) return EINTR, with SA_RESTART or without. Retry the call, or call
 * dlex_idle first. If a signal got lost, the next block with a constraint, or the next checkpoint,
 * makes up for it.
 *
 * A jump restores these: errno as it was at the interruption; the floating-point control words
 * (rounding, FTZ/DAZ, precision, exception masks) as they were when the block was opened, on x86 and
 * ARM64; the rights to memory with protection keys (pkeys(7)) as they were then, on x86; the signal mask
 * that ppoll, pselect, sigsuspend or epoll_pwait had changed for a moment. Protected sections opened
 * inside the block end. A jump does not restore the signal mask if the body
 * changed it otherwise than by dlex_sigmask. After a jump out of the body cancellation is deferred, as
 * if pthread_setcanceltype had not been called there.
 *
 * Signals. The library owns one signal in the whole process and unblocks it in each thread that uses
 * deadlines. A thread that blocks this signal gets no violations until it unblocks it. If a deadline
 * passes in a signal handler of the application, the handler may be abandoned in the middle, with its
 * signal left blocked: install your handlers with dlex_sigaction. See dlex/signal.h.
 *
 * The end of a thread. A violation that comes while pthread_exit or a cancellation unwinds the thread
 * jumps back into the block that owns it, and the thread goes on. So pthread_exit belongs in a
 * protected section. A thread that others cancel keeps cancellation disabled in interruptible bodies
 * and enables it in sections, or opens cooperative blocks. (With glibc, in a program that is not
 * static, the library sees that the thread is ending and delivers nothing. Portable code takes care all
 * the same, because a signal may come before libc has noted the end.) A thread that ends leaves its
 * blocks and sections: at the latest when it opens another block, in a cleanup handler or a destructor
 * of thread-specific data, and otherwise in the library's own destructor. Constraints then end and
 * scoped resources are released; finally parts do not run. Destructors may open blocks in each of the
 * system's rounds of destructors. A thread whose first timed block of all would be in the last round
 * must call dlex_thread_init before it ends.
 *
 * Errors. If a thread cannot get a timer, the block that needs it throws dlex_timer_error, with the
 * reason in errno, before its body runs; the block's own handlers may take it. A thread that wants to
 * know this ahead calls dlex_thread_init. After fork the child keeps its open blocks, their deadlines
 * and the rest of their WCETs, with a timer of its own; if the child cannot get one, they are not
 * enforced until the next block throws. With a block open, fork belongs in a protected section like any
 * other call that must not be cut in half. _Fork, vfork and raw clone are not covered. For exec, see
 * dlex/signal.h.
 */
#ifndef DLEX_WITHIN_H
#define DLEX_WITHIN_H

#include <dlex/exception.h>
#include <time.h>
#ifdef DLEX_BENCHMARK
#include <dlex/benchmark.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Any timing constraint; its parent is dlex_exception. */
extern DLEX_API const struct dlex_type dlex_timing_violation;
/* A block with a deadline, relative or absolute, did not end in time. */
extern DLEX_API const struct dlex_type dlex_deadline_violation;
/* A dlex_try_within_wcet block used more CPU time than it may. */
extern DLEX_API const struct dlex_type dlex_wcet_violation;
/* The kernel gave this thread no timer (errno EAGAIN: see RLIMIT_SIGPENDING), or another part of the
 * program already handles the signal (errno EBUSY). Its parent is dlex_exception. */
extern DLEX_API const struct dlex_type dlex_timer_error;

/*
 * Durations in nanoseconds, as int64_t: DLEX_MS(12), DLEX_S(0.5), DLEX_US(period_us). 3 * 1000 * 1000 *
 * 1000 overflows an int. So a duration or time that is not a constant must be of a type with 64 bits
 * (int64_t, long long, double): anything narrower does not compile. Every value must fit an int64_t,
 * which is 292 years. The argument of these macros must not have overflowed before.
 */
#define DLEX_US(us) ((int64_t)((us) * INT64_C(1000)))
#define DLEX_MS(ms) ((int64_t)((ms) * INT64_C(1000000)))
#define DLEX_S(s)   ((int64_t)((s) * INT64_C(1000000000)))

/* Opens a block whose body must end within ns nanoseconds from now. */
#define dlex_try_within_rel(ns)  dlex_within_(ns, DLEX_REL_)

/* Opens a block whose body must end before this time of CLOCK_MONOTONIC. */
#define dlex_try_within_abs(ns)  dlex_within_(ns, DLEX_ABS_)

/*
 * Opens a block whose body may use ns nanoseconds of CPU time of this thread (seed 000, requirement 2).
 * The violation is never early and, unlike that of the kernel's CPU-time timers, not bound to the
 * kernel's tick: a timer of CLOCK_MONOTONIC is set to the earliest time at which the CPU time can run
 * out. If it has not run out then, because the thread had to wait meanwhile, the timer is set again for
 * the rest. No privilege is needed. A thread that sleeps in the body uses none of its CPU time, but
 * each look at that time wakes the thread: a sleeping call there may return EINTR (see Cost), and each
 * look takes 15 to 30 us of the CPU time that it looks at. So a thread that is found asleep twice is
 * left alone until the kernel finds it running, at a tick of its clock (1 to 10 ms): after a sleep a
 * violation may come up to a tick late. With the POSIX notification there is no such help, and a small
 * WCET does not outlast a long sleep.
 */
#define dlex_try_within_wcet(ns) dlex_within_(ns, DLEX_WCET_)

/*
 * Cooperative blocks, for bodies that must not be interrupted at any instruction. In the body only
 * dlex_checkpoint delivers violations, of this block or any other, as if the whole body were a
 * protected section with holes at the checkpoints. A constraint that expires and meets no checkpoint
 * ends with its block; those of blocks outside are delivered when the outermost cooperative block ends.
 * Blocks opened inside are cooperative as well, unless they are shielded. If a protected section stands
 * round a cooperative block, the blocks outside that section stay protected from the checkpoints of the
 * cooperative block too. A cooperative block needs no signal and sets no timer.
 */
#define dlex_try_within_rel_cooperative(ns)  dlex_within_(ns, DLEX_REL_ | DLEX_COOPERATIVE_)
#define dlex_try_within_abs_cooperative(ns)  dlex_within_(ns, DLEX_ABS_ | DLEX_COOPERATIVE_)
#define dlex_try_within_wcet_cooperative(ns) dlex_within_(ns, DLEX_WCET_ | DLEX_COOPERATIVE_)

/*
 * Throws the violation of the outermost open block whose constraint has expired, if there is one. Does
 * nothing in a protected section inside the innermost cooperative block; where no cooperative block is
 * open, it does nothing in any protected section. Allowed everywhere but in signal handlers. In an
 * interruptible body it is not needed, and does no harm. Costs one clock read, or two when a WCET is in
 * force.
 */
static inline void dlex_checkpoint(void);

/*
 * An island of interruptible computation inside a protected section. The constraint of this block, and
 * those of blocks opened inside it, may interrupt the body, while every block around it stays
 * protected, as if a protected section stood round this block. The section around it is in force again
 * when the body has ended, so the finally part and the handlers run in it. A deadline of an outer block
 * that passes meanwhile is pending as usual, even if it is the same deadline: this block takes its
 * violation in the island, and the outer one takes its own at the enable that follows.
 * dlex_try_within_disable in the body nests as usual. Without a protected section around it, the block
 * shields the blocks outside by itself, and their violation is delivered when its handlers would begin.
 * The idea is that of a shielded cancel scope in structured concurrency, turned inside out.
 */
#define dlex_try_within_rel_shielded(ns)  dlex_within_(ns, DLEX_REL_ | DLEX_SHIELDED_)
#define dlex_try_within_abs_shielded(ns)  dlex_within_(ns, DLEX_ABS_ | DLEX_SHIELDED_)
#define dlex_try_within_wcet_shielded(ns) dlex_within_(ns, DLEX_WCET_ | DLEX_SHIELDED_)

/*
 * A protected section: no violation is delivered to this thread from disable to the matching enable
 * (seed 000, requirement 9). Sections nest. A violation that falls inside is delivered by the outermost
 * enable, if its block is still open. A section makes no system call. Sections may stand anywhere, also
 * outside blocks, round whole blocks, and in signal handlers. A section opened inside a block ends with
 * the block at the latest. enable without disable aborts the program.
 */
static inline void dlex_try_within_disable(void);
static inline void dlex_try_within_enable(void);

/*
 * For computations that improve a result step by step, and whose last result is good when the deadline
 * comes (anytime algorithms). If a violation comes after this call, everything is in memory that the
 * body stored before the call in objects that are not local variables of the function with the block.
 * Without the call a compiler may keep such stores in registers until a loop ends, and then an abort
 * loses all of them, as gcc and clang do at -O2. The call is a fence for the compiler and costs no
 * instruction. It orders nothing for other threads, and does not make several stores one: see the
 * contract.
 */
static inline void dlex_publish(void);

/* Return the time on the clock of deadlines, CLOCK_MONOTONIC, and on that of WCETs, the CPU time of
 * this thread. Safe in signal handlers. */
DLEX_API int64_t dlex_now_ns(void);
DLEX_API int64_t dlex_cpu_ns(void);

/* Returns the time until the earliest violation in all open blocks of this thread (requirement 10), in
 * the clock of its constraint: negative when it has passed, which can be seen in a protected section or
 * a cooperative block; INT64_MAX when there is none. A trigger (dlex/trigger.h) counts from when it is
 * fired. */
static inline int64_t dlex_remaining_ns(void);

/* Returns the earliest deadline of all open blocks of this thread, on CLOCK_MONOTONIC; INT64_MAX: none.
 * For calls that wait until a time, such as pthread_cond_clockwait. WCETs are not included. */
DLEX_API int64_t dlex_deadline_ns(void);

/* What is known of a violation (requirement 11). Times are those of the constraint's clock. */
struct dlex_violation {
    const struct dlex_type *type; /* dlex_deadline_violation, dlex_wcet_violation, dlex_trigger_violation */
    int64_t deadline_ns; /* when it should have come; WCET: CPU time allowed; trigger: time of the firing */
    int64_t noticed_ns;  /* when the signal handler ran, a checkpoint or an opening noticed */
    int64_t released_ns; /* when the protected section that it waited for ended; 0: no wait */
    int64_t caught_ns;   /* when control was back in the block that owns it, before finally */
};

/* Returns the last violation in this thread that reached its block; all zero when there was none. The
 * record stays until the next violation of the thread. Never NULL. */
DLEX_API const struct dlex_violation *dlex_last_violation(void);

/* Returns how late the last violation was taken: caught_ns - deadline_ns. */
DLEX_API int64_t dlex_expired_ns(void);

/*
 * Prepares the calling thread: sets up signal handler and timer, which takes a few microseconds. The
 * call is not needed, but with it the first block costs no more than the others and its errors are
 * known ahead. Returns 0, or a negative errno value (-EAGAIN, -ENOMEM, -EBUSY, see dlex_timer_error).
 */
DLEX_API int dlex_thread_init(void);

/* Call it before a call that sleeps: it forgets leftover expiries, so that they cannot interrupt the
 * sleep. Deadlines and triggers of blocks that are open stay in force. Makes at most one system call,
 * or a few if this thread has bound a trigger. */
DLEX_API void dlex_idle(void);

/* ------------------------------------------------------------------------------------------- */
/* What follows belongs to the macros. Names that end in an underscore are not an interface.    */

/* initial-exec: the handler must reach it without an allocation by the dynamic loader. */
extern DLEX_API __thread struct dlex_guard_ dlex_guard_
    __attribute__((tls_model("initial-exec")));

/*
 * A computed int may have overflowed, which cannot be seen afterwards. In C a null pointer constant
 * distinguishes constants: the type of the conditional expression is int * with one, and void *
 * otherwise; gcc does not accept a constant that overflowed as one. g++ needs its warning made an
 * error; clang only warns.
 */
#ifdef __cplusplus
#define DLEX_IS_WIDE_(ns)                                                                       \
    _Pragma("GCC diagnostic push")                                                              \
    _Pragma("GCC diagnostic error \"-Woverflow\"")                                              \
    static_assert(sizeof(ns) >= 8 || __builtin_constant_p(ns), DLEX_TOO_NARROW_);               \
    _Pragma("GCC diagnostic pop")
#else
#define DLEX_IS_WIDE_(ns)                                                                       \
    __extension__ _Static_assert(sizeof(ns) >= 8 || DLEX_IS_CONSTANT_(ns), DLEX_TOO_NARROW_);
#define DLEX_IS_CONSTANT_(ns)                                                                   \
    (sizeof(*(1 ? (void *)((intptr_t)(ns) * 0) : (int *)0)) == sizeof(int))
#endif
#define DLEX_TOO_NARROW_ "a time in ns needs 64 bits: see DLEX_US, DLEX_MS, DLEX_S"

#ifdef DLEX_BENCHMARK
#define dlex_within_(ns, how) dlex_measure_within_(ns, how)
#else
#define dlex_within_(ns, how)                                                                   \
    dlex_open_at_(DLEX_IS_WIDE_(ns), 0, dlex_begin_within_(&dlex_block_, (ns), (how)))
#endif

DLEX_API int dlex_begin_within_(struct dlex_block_ *block, int64_t ns, int how);
DLEX_API void dlex_lift_(void);
DLEX_API void dlex_check_(int64_t now_ns);
DLEX_API int64_t dlex_least_left_ns_(int64_t left_ns);

/* The compiler must not move memory accesses of a section out of it. */
#define DLEX_FENCE_() __asm__ __volatile__("" ::: "memory")

static inline void dlex_publish(void)
{
    DLEX_FENCE_();
}

static inline void dlex_try_within_disable(void)
{
    dlex_guard_.depth = dlex_guard_.depth + 1;
    DLEX_FENCE_();
}

static inline void dlex_try_within_enable(void)
{
    int depth;
    DLEX_FENCE_();
    depth = dlex_guard_.depth - 1;
    dlex_guard_.depth = depth;
    if (depth <= 0 && (depth < 0 || dlex_guard_.pending))
        dlex_lift_();
}

/* Inline here, and not in the library: one more call would be half of what its callers cost beyond the
 * clock. */
static inline int64_t dlex_clock_ns_(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline void dlex_checkpoint(void)
{
    const int64_t deadline_ns = dlex_guard_.deadline_ns, cpu_limit_ns = dlex_guard_.cpu_limit_ns;
    int64_t now_ns;
    if (deadline_ns == INT64_MAX && cpu_limit_ns == INT64_MAX)
        return;
    now_ns = dlex_clock_ns_();
    if (now_ns >= deadline_ns || cpu_limit_ns != INT64_MAX)
        dlex_check_(now_ns);
}

static inline int64_t dlex_remaining_ns(void)
{
    const int64_t deadline_ns = dlex_guard_.deadline_ns, cpu_limit_ns = dlex_guard_.cpu_limit_ns;
    const int64_t left_ns =
        deadline_ns == INT64_MAX ? INT64_MAX : deadline_ns - dlex_clock_ns_();
    return cpu_limit_ns == INT64_MAX ? left_ns : dlex_least_left_ns_(left_ns);
}

#ifdef __cplusplus
}
#endif

#endif
