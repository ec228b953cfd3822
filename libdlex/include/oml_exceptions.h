/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * oml_exceptions.h: programs written for OML's exceptions compile and run unchanged on libdlex.
 *
 * The Open Macro Library, in its dlex branch, is where the programming model of seed 000 (Cucinotta
 * and Faggioli, section 5) was first built. This header has its public names over dlex/dlex.h. New
 * programs should use that one: it has more, and takes times as integers.
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
 * The contract on what may be interrupted, on locals, threads and signals is that of
 * dlex/exception.h and dlex/within.h. The order of the parts is fixed: a body, oml_finally (may be
 * missing), oml_handle, any number of oml_when, oml_end. Braces round the parts are usual and not
 * needed; a semicolon after oml_end is allowed. What stands between oml_handle and the first
 * oml_when runs when nothing was raised.
 *
 * Where it differs from the original, in the cases where that was wrong: finally runs exactly once
 * and is not interrupted; blocks nest without a limit; oml_rethrow passes the exception on; an
 * exception thrown in finally replaces the first; oml_ex_return runs the finally parts; a WCET is
 * enforced; protected sections nest, and no block opened inside one ends it.
 * oml_exceptions(3) compares name by name.
 */
#ifndef OML_EXCEPTIONS_H
#define OML_EXCEPTIONS_H

/* The original declares both, and programs rely on what its includes declare. */
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

/* A type of exception: with or without struct before it; members name and parent. */
typedef struct dlex_type dlex_type;
#define oml_exception_struct dlex_type

/* At file scope, static or not: oml_define_exception(ex) oml_extends(its_parent); */
#define oml_define_exception(e)  const oml_exception_struct e = { #e,
#define oml_extends(e)           &(e) }
#define oml_declare_exception(e) extern const oml_exception_struct e

/* They are libdlex's own types, under two names: either catches what the other throws. */
#define oml_exception                dlex_exception
#define oml_ex_time_constr_violation dlex_timing_violation
#define oml_ex_deadline_violation    dlex_deadline_violation
#define oml_ex_wcet_violation        dlex_wcet_violation

/* For errors of the program's own; its parent is oml_exception. libdlex throws none of them. */
extern DLEX_API const oml_exception_struct oml_error;

#define oml_try dlex_try {
/* ts is a struct timespec, of CLOCK_MONOTONIC. A time that has passed, zero included, is a
 * violation before the body begins; one 292 years ahead is no deadline. */
#define oml_try_within_abs(ts) dlex_try_within_abs(oml_ns_(ts)) {
/* From now. */
#define oml_try_within_rel(ts) dlex_try_within_rel(oml_ns_(ts)) {
/* Of the thread's CPU time, from now. */
#define oml_try_within_wcet(ts) dlex_try_within_wcet(oml_ns_(ts)) {
#define oml_finally } if (oml_hold_(&dlex_block_)) {
#define oml_handle  } if (dlex_settle_(&dlex_block_)) {
#define oml_when(e) } else if (oml_catches_(&dlex_block_, &(e))) {
#define oml_end     } oml_finish_(&dlex_block_); } }

/* In oml_when: takes everything. In a handler or finally part: the exception itself. */
#define oml_any (*dlex_block_.exception)

/* Throws e, any lvalue that lives long enough. Does not return. */
#define oml_throw(e) dlex_throw(e)
/* In a handler, lexically: throws what it took, outwards. The semicolon after it may be missing. */
#define oml_rethrow dlex_rethrow();
/* Returns x from the function: as dlex_return, but a constant stays what it is, so that 0 can be a
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

/*
 * A protected section. Unlike the original these nest, so that only the outermost enable delivers.
 * As there, an enable without a disable does nothing.
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

/*
 * Sets what is called, in the thread that threw, when no block takes an exception; if it returns,
 * the program aborts. NULL: the handler of the start, which names the exception and aborts.
 * Returns the one before, never NULL; it may be called. For the whole program, from any thread.
 * See dlex_set_terminate, whose place it takes.
 */
typedef void (*oml_pfv)(void);
DLEX_API oml_pfv oml_set_terminate(oml_pfv handler);

/* Prints on stdout the name of the exception whose finally part, handler or terminate handler is
 * running in this thread; nothing when there is none. */
DLEX_API void oml_print_exception(void);

/* Blocks nest as deep as the stack allows. */
#ifndef MAX_NESTED
#define MAX_NESTED __INT_MAX__
#endif

/* One signal serves deadlines and WCETs, and dlex_use_signal chooses it. A program that defines
 * these itself is not heeded, as in the original, whose library was compiled without them. */
#ifndef OML_DEADLINE_SIGNAL
#define OML_DEADLINE_SIGNAL (dlex_signal())
#endif
#ifndef OML_WCET_SIGNAL
#define OML_WCET_SIGNAL (dlex_signal())
#endif

/* ------------------------------------------------------------------------------------------- */
/* What follows belongs to the macros.                                                          */

/* OML's own programs read this to see that no block is open: -1. Not an lvalue. */
#define __oml_ExcCurrentContext (oml_context_())

DLEX_API int oml_context_(void);
DLEX_API int oml_hold_(struct dlex_block_ *block);
DLEX_API int oml_catches_(struct dlex_block_ *block, const struct dlex_type *type);
DLEX_API void oml_finish_(struct dlex_block_ *block);

static inline int64_t oml_ns_(struct timespec ts)
{
    int64_t ns;
    if (__builtin_mul_overflow((int64_t)ts.tv_sec, INT64_C(1000000000), &ns)
        || __builtin_add_overflow(ns, (int64_t)ts.tv_nsec, &ns))
        return ts.tv_sec < 0 ? INT64_MIN : INT64_MAX;
    return ns;
}

#ifdef __cplusplus
}
#endif

#endif
