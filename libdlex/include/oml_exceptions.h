/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * oml_exceptions.h: programs written for OML's exceptions compile and run unchanged on libdlex.
 *
 * The programming model of seed 000 (Cucinotta and Faggioli, section 5) was first built in the dlex
 * branch of the Open Macro Library. This header provides that branch's public names on top of
 * dlex/dlex.h. New programs should use dlex/dlex.h: it has more, and takes times as integers.
 *
 *     oml_define_exception(no_room) oml_extends(oml_exception);
 *
 *     struct timespec limit = { .tv_sec = 0, .tv_nsec = 12000000 };
 *     oml_try_within_rel(limit) {
 *         decode(frame);                     // somewhere inside: oml_throw(no_room);
 *     } oml_finally {
 *         release(buffer);
 *     } oml_handle
 *         oml_when(oml_ex_deadline_violation) {
 *             show_previous();
 *         }
 *         oml_when(oml_any) {
 *             oml_rethrow;
 *         }
 *     oml_end;
 *
 * The contract on what may be interrupted, on locals, threads and signals is that of dlex/exception.h
 * and dlex/within.h. The order of the parts is fixed: a body, oml_finally (may be missing), oml_handle,
 * any number of oml_when, oml_end. Braces round the parts are usual but not needed; a semicolon after
 * oml_end is allowed. Code between oml_handle and the first oml_when runs when nothing was raised.
 *
 * It differs from the original in the cases where the original was wrong: finally runs exactly once and
 * is not interrupted; blocks nest without a limit; oml_rethrow passes the exception on; an exception
 * thrown in finally replaces the first; oml_ex_return runs the finally parts; a WCET is enforced;
 * protected sections nest, and no block opened inside one ends it. oml_exceptions(3) compares name by
 * name.
 *
 * The paper writes some names differently from the branch, and has some that the branch lacks; these
 * names are here too. So are those of OML before the branch (EException, EError, Exception).
 */
#ifndef OML_EXCEPTIONS_H
#define OML_EXCEPTIONS_H

/* The original defines this macro and includes these headers, and programs rely on what they declare. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* OML_WITHIN_BENCH, defined before the first include: measures timed blocks, as DLEX_BENCHMARK. */
#if defined OML_WITHIN_BENCH && !defined DLEX_BENCHMARK
#define DLEX_BENCHMARK 1
#endif
#include <dlex/dlex.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A type of exception; its name may be written with or without struct. Its members are name and parent. */
typedef struct dlex_type dlex_type;
#define oml_exception_struct dlex_type

/* At file scope, static or not: oml_define_exception(ex) oml_extends(its_parent); */
#define oml_define_exception(e)  const oml_exception_struct e = { #e,
#define oml_extends(e)           &(e) }
#define oml_declare_exception(e) extern const oml_exception_struct e

/* These are libdlex's own types, under two names: either catches what the other throws. */
#define oml_exception                dlex_exception
#define oml_ex_time_constr_violation dlex_timing_violation
#define oml_ex_deadline_violation    dlex_deadline_violation
#define oml_ex_wcet_violation        dlex_wcet_violation
/* The spelling of the paper. */
#define oml_ex_timing_constraint_violation dlex_timing_violation

/* For the program's own errors; its parent is oml_exception. libdlex never throws it. */
extern DLEX_API const oml_exception_struct oml_error;

/* The names of OML before its dlex branch: two exception types, and the type of all exception types. */
#define EException oml_exception
#define EError     oml_error
#ifndef __cplusplus /* C++ programs may well have a class of this name */
#define Exception dlex_type
#endif

#define oml_try dlex_try {
/* ts is a struct timespec, of CLOCK_MONOTONIC, or an integer, which counts microseconds as in the
 * paper. A time that has passed, zero included, is a violation before the body begins. A time 292 years
 * ahead is no deadline. */
#define oml_try_within_abs(ts) dlex_try_within_abs(oml_ns_(ts)) {
/* ts counts from now. */
#define oml_try_within_rel(ts) dlex_try_within_rel(oml_ns_(ts)) {
/* ts counts the thread's CPU time from now. */
#define oml_try_within_wcet(ts) dlex_try_within_wcet(oml_ns_(ts)) {
#define oml_finally } DLEX_FINALLY_IS_FIRST_() if (oml_hold_(&dlex_block_)) {
#define oml_handle  } DLEX_HANDLERS_BEGIN_() if (dlex_settle_(&dlex_block_)) {
/* e is a type; it must begin with a name. After one of the types of this header another name may
 * follow, as in oml_when(oml_ex_wcet_violation e): then e points to what was thrown, for oml_raise. */
#define oml_when(e) OML_WHEN_(e)
#define oml_end     } oml_finish_(&dlex_block_); } }
#define oml_handle_end oml_end

/* In oml_when: takes everything. In a handler or finally part: the exception itself. */
#define oml_any dlex_block_.exception[0]

/* Throws e, any lvalue that lives long enough. Does not return. */
#define oml_throw(e) dlex_throw(e)
/* In a handler, lexically: throws the exception that the handler took, outwards. The semicolon after it
 * may be missing. */
#define oml_rethrow dlex_rethrow();
/* Throws the exception that the second name in oml_when(type e) stands for. If e is an integer, it is a
 * signal: raise(3). */
#ifdef __cplusplus
#define oml_raise(e) dlex_throw_((e), DLEX_HERE_, __builtin_frame_address(0))
#else
#define oml_raise(e)                                                                            \
    (__extension__ _Generic((e), const oml_exception_struct *: dlex_throw_,                     \
                            default: oml_signal_)((e), DLEX_HERE_, __builtin_frame_address(0)))
#endif
/* Returns x from the function, as dlex_return does, but a constant stays a constant, so that 0 can be a
 * null pointer (not in C++). */
#ifdef __cplusplus
#define oml_ex_return(x) dlex_return(x)
#else
#define oml_ex_return(x)                                                                        \
    do {                                                                                        \
        DLEX_STAYS_()                                                                           \
        DLEX_AUTO_ oml_value_ = (x);                                                            \
        DLEX_DEPART_();                                                                         \
        return __builtin_choose_expr(__builtin_constant_p(x), (x), oml_value_);                 \
        DLEX_STAYS_END_()                                                                       \
    } while (0)
#endif
#define oml_ereturn(x) oml_ex_return(x)

/*
 * A protected section. Unlike in the original, these sections nest, so that only the outermost enable
 * delivers. As in the original, an enable without a disable does nothing.
 */
static inline void oml_try_within_disable(void)
{
    dlex_try_within_disable();
}

static inline void oml_try_within_enable(void)
{
    if (dlex_guard_.depth > 0)
        dlex_try_within_enable();
}

/* The names without try, as the paper has them once. */
#define oml_within_disable oml_try_within_disable
#define oml_within_enable  oml_try_within_enable

/*
 * The paper's measurements (requirements 10 and 11), in microseconds. The paper does not say what they
 * return. dlex_remaining_ns and dlex_last_violation give nanoseconds.
 *   rmng_time     until the earliest violation in the open blocks of the thread; below zero when it
 *                 has passed; INT64_MAX: there is none
 *   expr_delay    since the constraint of the thread's last violation expired, until now
 *   expr_latency  from that expiry until the library noticed it
 * The last two are 0 when there was no violation, and otherwise in the clock of its constraint.
 */
static inline int64_t oml_try_within_rmng_time(void)
{
    const int64_t left_ns = dlex_remaining_ns();
    return left_ns == INT64_MAX ? INT64_MAX : left_ns / 1000 - (left_ns % 1000 < 0);
}

static inline int64_t oml_try_within_expr_delay(void)
{
    const struct dlex_violation *const v = dlex_last_violation();
    if (!v->type)
        return 0;
    return ((v->type == &dlex_wcet_violation ? dlex_cpu_ns() : dlex_now_ns()) - v->deadline_ns) / 1000;
}

static inline int64_t oml_try_within_expr_latency(void)
{
    const struct dlex_violation *const v = dlex_last_violation();
    return (v->noticed_ns - v->deadline_ns) / 1000;
}

/*
 * Sets the handler that is called, in the thread that threw, when no block takes an exception; if it
 * returns, the program aborts. NULL sets the initial handler, which names the exception and aborts.
 * Returns the previous handler, never NULL; it may be called. For the whole program, from any thread.
 * It takes the place of dlex_set_terminate; see there.
 */
typedef void (*oml_pfv)(void);
typedef oml_pfv PFV; /* its name before the branch */
DLEX_API oml_pfv oml_set_terminate(oml_pfv handler);

/* Prints on stdout the name of the exception whose finally part, handler or terminate handler is
 * running in this thread; prints nothing when there is none. */
DLEX_API void oml_print_exception(void);

/* Blocks nest as deep as the stack allows. */
#ifndef MAX_NESTED
#define MAX_NESTED __INT_MAX__
#endif

/* One signal serves deadlines and WCETs, and dlex_use_signal chooses it. If a program defines these
 * itself, that has no effect, as in the original, whose library was compiled without them. */
#ifndef OML_DEADLINE_SIGNAL
#define OML_DEADLINE_SIGNAL (dlex_signal())
#endif
#ifndef OML_WCET_SIGNAL
#define OML_WCET_SIGNAL (dlex_signal())
#endif

/* ------------------------------------------------------------------------------------------- */
/* What follows belongs to the macros.                                                          */

/* OML's own programs read this: -1 means that no block is open. Not an lvalue. */
#define __oml_ExcCurrentContext (oml_context_())

DLEX_API int oml_context_(void);
DLEX_API int oml_hold_(struct dlex_block_ *block);
DLEX_API int oml_catches_(struct dlex_block_ *block, const struct dlex_type *type);
DLEX_API void oml_finish_(struct dlex_block_ *block);

/* oml_when(e): without a second name OML_NAMED_e is not a macro, or gives an empty argument. With a
 * second name there are four arguments instead of three; OML_FIFTH_ uses this to select the macro that
 * goes on. */
#define OML_NAMED_dlex_exception          dlex_exception,
#define OML_NAMED_dlex_timing_violation   dlex_timing_violation,
#define OML_NAMED_dlex_deadline_violation dlex_deadline_violation,
#define OML_NAMED_dlex_wcet_violation     dlex_wcet_violation,
#define OML_NAMED_dlex_timer_error        dlex_timer_error,
#define OML_NAMED_oml_error               oml_error,

#define OML_WHEN_(e)         OML_WHEN_OF_(OML_NAMED_##e, e, )
#define OML_WHEN_OF_(...)    OML_FIFTH_(__VA_ARGS__, OML_WHEN_NAMED_, OML_WHEN_BARE_, )(__VA_ARGS__)
#define OML_FIFTH_(a, b, c, d, fifth, ...) fifth
#define OML_WHEN_BARE_(named, e, none)                                                          \
    } else if (DLEX_HANDLERS_BEGAN_() oml_catches_(&dlex_block_, &(e))) {
#define OML_WHEN_NAMED_(type, name, e, none)                                                    \
    } else if (DLEX_HANDLERS_BEGAN_() oml_catches_(&dlex_block_, &(type))) {                    \
        OML_DECLARE_(OML_NAME_##name, name)

/* The same technique again: OML_NAME_ is a macro, and OML_NAME_e is not. */
#define OML_NAME_ ,
#define OML_DECLARE_(...) OML_FOURTH_(__VA_ARGS__, OML_NO_NAME_, OML_ONE_NAME_, )(__VA_ARGS__)
#define OML_FOURTH_(a, b, c, fourth, ...) fourth
#define OML_NO_NAME_(...)
#define OML_ONE_NAME_(named, name)                                                              \
    const oml_exception_struct *const name __attribute__((unused)) = dlex_block_.exception;

static inline int64_t oml_timespec_ns_(struct timespec ts)
{
    int64_t ns;
    if (__builtin_mul_overflow((int64_t)ts.tv_sec, INT64_C(1000000000), &ns)
        || __builtin_add_overflow(ns, (int64_t)ts.tv_nsec, &ns))
        return ts.tv_sec < 0 ? INT64_MIN : INT64_MAX;
    return ns;
}

static inline int64_t oml_us_ns_(long long us)
{
    int64_t ns;
    if (__builtin_mul_overflow(us, 1000, &ns))
        return us < 0 ? INT64_MIN : INT64_MAX;
    return ns;
}

static inline int64_t oml_unsigned_us_ns_(unsigned long long us)
{
    int64_t ns;
    return __builtin_mul_overflow(us, 1000, &ns) ? INT64_MAX : ns;
}

/* Takes the arguments of dlex_throw_, for oml_raise. */
static inline int oml_signal_(int number, const char *origin, void *frame)
{
    (void)origin;
    (void)frame;
    return raise(number);
}

#ifdef __cplusplus
}

extern "C++" {
inline int64_t oml_ns_(struct timespec ts)
{
    return oml_timespec_ns_(ts);
}

template <typename Integer> inline int64_t oml_ns_(Integer us)
{
    static_assert(static_cast<Integer>(1) / 2 == 0, "a time is a timespec, or an integer of microseconds");
    return static_cast<Integer>(-1) < static_cast<Integer>(1)
               ? oml_us_ns_(static_cast<long long>(us))
               : oml_unsigned_us_ns_(static_cast<unsigned long long>(us));
}
}
#else
/* Other types, such as double, do not compile. */
#define oml_ns_(ts)                                                                             \
    (__extension__ _Generic((ts), struct timespec: oml_timespec_ns_,                            \
                            signed char: oml_us_ns_, unsigned char: oml_us_ns_,                 \
                            char: oml_us_ns_, short: oml_us_ns_, unsigned short: oml_us_ns_,    \
                            int: oml_us_ns_, long: oml_us_ns_, long long: oml_us_ns_,           \
                            unsigned: oml_unsigned_us_ns_, unsigned long: oml_unsigned_us_ns_,  \
                            unsigned long long: oml_unsigned_us_ns_)(ts))
#endif

#endif
