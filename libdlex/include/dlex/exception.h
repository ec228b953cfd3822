/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlex/exception.h: exceptions with a type hierarchy for C.
 *
 *     dlex_define_exception(no_room) dlex_extends(dlex_exception);
 *
 *     dlex_try {
 *         fill(buffer);                    // somewhere inside: dlex_throw(no_room);
 *     } dlex_finally {
 *         release(buffer);                 // always, and before any handler
 *     } dlex_handle dlex_when(no_room) {
 *         grow(buffer);
 *     } dlex_when_any {
 *         dlex_rethrow();
 *     } dlex_end
 *
 * A block is dlex_try (or one of the dlex_try_within_* of dlex/within.h), a body, and then, each of
 * them optional and in this order: dlex_finally with its part; dlex_handle with any number of dlex_when
 * and at most one dlex_when_any, which is last. dlex_end closes the block. The idea and the syntax are
 * those of seed 000 (Cucinotta and Faggioli), section 5.
 *
 * Order of events. The body ends, by itself or by an exception. Then the finally part runs, once. Then
 * the first dlex_when runs whose type is the exception's type or an ancestor of it. An exception that
 * no handler of the block takes goes on to the block around it, in this function or in a caller. An
 * exception that finds no block at all is reported on stderr with its origin, and the program aborts.
 *
 * What is inside what. Handlers and the finally part are outside their own block and inside the blocks
 * around it: an exception thrown there goes outwards. The finally part is a protected section (see
 * dlex/within.h), so a deadline of an outer block cannot cut a clean-up in half; its violation is
 * delivered when the part ends. A handler is not protected.
 *
 * The order of the parts is checked when the program is compiled: a handler without dlex_handle before
 * it, dlex_finally after dlex_handle, and a second dlex_finally do not compile. A part is one
 * statement, or braces. Nothing may stand between the parts: it would run even when the body has not
 * run. Nothing may jump into a part, or from one part to another. A function with a block cannot be
 * inline without static.
 *
 * Leaving early. return, break, continue and goto out of a body close the block properly: its
 * constraint ends with it. So does a C++ exception that passes, if the function is compiled to be
 * unwound, as C++ is (C: -fexceptions). But no C compiler can be made to run the finally part then. So
 * a body of a block with a finally part is left by its end, by an exception of this header or by
 * dlex_return. Any other exit is a mistake: it aborts with file:line unless NDEBUG is defined where the
 * block stands, and otherwise goes on without the finally part. (In a static program against glibc,
 * code compiled with -fexceptions, as C++ is, goes on too: the library cannot find out there whether
 * pthread_exit or a cancellation unwinds the thread.)
 *
 * An application's own longjmp across a block is a mistake, which the library repairs as far as it can
 * see it: the next block, throw or expiry forgets blocks whose frames are gone, and the sections opened
 * in them. A block that was left within its own function is forgotten when that function opens another
 * one (in C++: the same one again), and until then its constraint is in force. Where new frames already
 * cover the old ones, the blocks are not recognised. pthread_exit and cancellation may end a thread
 * that has open blocks.
 *
 * Local variables. A jump is a siglongjmp. So a local variable of the function with the block must be
 * volatile (or static) if it was changed in the body, also through a pointer, and is read after the
 * body; otherwise its value is indeterminate. Variables that the body only reads need nothing, though
 * gcc's -Wclobbered may name one of them. An expiry may come at any instruction, so what the body has
 * stored in other objects, static or of callers, may still be in registers: it is certainly in memory
 * if the body called dlex_publish (dlex/within.h) after the store, or if the objects are volatile.
 *
 * Threads. Blocks belong to the thread that opened them and close in reverse order. They must not
 * stay open across swapcontext or in a coroutine that changes stacks.
 *
 * C++ may include this, but a jump runs no destructors.
 */
#ifndef DLEX_EXCEPTION_H
#define DLEX_EXCEPTION_H

#include <stdint.h>

#include <dlex/block.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A type of exception. Its identity is its address; it must exist for ever and never change. */
struct dlex_type {
    const char *name;
    const struct dlex_type *parent; /* NULL: the root, dlex_exception */
};

/* At file scope in one .c file: dlex_define_exception(ex) dlex_extends(its_parent); */
#define dlex_define_exception(ex)                                                               \
    dlex_declare_exception(ex);                                                                 \
    const struct dlex_type ex = { #ex,
#define dlex_extends(parent_ex)                                                                 \
    &(parent_ex) }

/* In a header, for code that throws or catches it: dlex_declare_exception(ex); */
#define dlex_declare_exception(ex) extern const struct dlex_type ex

/* The root of all exceptions. */
extern DLEX_API const struct dlex_type dlex_exception;

#define dlex_try         dlex_open_(dlex_begin_(&dlex_block_))
#define dlex_finally     DLEX_FINALLY_IS_FIRST_() if (dlex_hold_(&dlex_block_))
#define dlex_handle      DLEX_HANDLERS_BEGIN_() if (dlex_settle_(&dlex_block_)) { }
#define dlex_when(ex)    else if (DLEX_HANDLERS_BEGAN_() dlex_catches_(&dlex_block_, &(ex)))
#define dlex_when_any    dlex_when(dlex_exception)
#define dlex_end         dlex_finish_(&dlex_block_); } }

/*
 * Throws ex (a type, not a pointer) to the innermost open block of this thread. Does not return.
 * Allowed in a protected section: the sections opened inside the block that is left end with it. In a
 * signal handler, allowed only to a block that was opened there.
 */
#define dlex_throw(ex) dlex_throw_(&(ex), DLEX_HERE_, __builtin_frame_address(0))

/*
 * Only in a handler, lexically: throws the exception that the handler took, outwards. A violation of a
 * timing constraint that is rethrown is an ordinary exception from then on: the nearest handler for its
 * type takes it.
 */
#define dlex_rethrow() dlex_rethrow_(&dlex_block_)

/*
 * Returns from the function out of a body, and runs the finally parts of all its open blocks first,
 * innermost first (seed 000, 5.2, has no such thing; OML's oml_ex_return is the idea). The value is
 * computed before they run. It has the type of the expression: cast a plain 0 that stands for a null
 * pointer, and a bit-field. A function that returns a C++ reference cannot be left so. clang assumes
 * that the finally part runs after the body is gone, and may give their variables the same memory. In C
 * it is kept from doing so with the value, but not with variables of the body that have a cleanup
 * attribute: have none in scope. In C++ it cannot be kept from it, and there dlex_return does not
 * compile.
 */
#if defined __clang__ && defined __cplusplus
#define dlex_return(value) static_assert(sizeof(value) == 0, DLEX_NO_RETURN_)
#define dlex_return_void() static_assert(sizeof(int) == 0, DLEX_NO_RETURN_)
#define DLEX_NO_RETURN_    "dlex_return does not work with clang in C++: see dlex/exception.h"
#else
#define dlex_return(value)                                                                      \
    do {                                                                                        \
        DLEX_STAYS_()                                                                           \
        DLEX_AUTO_ dlex_value_ = (value);                                                       \
        DLEX_DEPART_();                                                                         \
        return dlex_value_;                                                                     \
        DLEX_STAYS_END_()                                                                       \
    } while (0)
#define dlex_return_void()                                                                      \
    do {                                                                                        \
        DLEX_STAYS_()                                                                           \
        DLEX_DEPART_();                                                                         \
        return;                                                                                 \
        DLEX_STAYS_END_()                                                                       \
    } while (0)
#endif

/* Only in a handler, lexically: the type of the exception that it took. */
#define dlex_caught() (dlex_block_.exception)

/*
 * Called in the thread that threw an exception which no open block is left to take, before the program
 * aborts: type is the exception, origin the "file:line" that threw it. No violation is delivered
 * meanwhile. The function may end the program its own way. If it returns, the exception is reported on
 * stderr and the program aborts. It must not throw the exception again, nor longjmp.
 */
typedef void dlex_terminate_fn(const struct dlex_type *type, const char *origin);

/* Sets that function for the whole program; NULL, as at the start, means none. Returns the previous
 * one. Any thread may call it. */
DLEX_API dlex_terminate_fn *dlex_set_terminate(dlex_terminate_fn *handler);

/* ------------------------------------------------------------------------------------------- */
/* What follows belongs to the macros. Names that end in an underscore are not an interface.    */

#ifdef __cplusplus
#define DLEX_AUTO_ auto
#else
#define DLEX_AUTO_ __extension__ volatile __auto_type
#endif

/* clang does not see that the finally parts run before the end of this scope, and would give their
 * variables the same memory. It gives a variable separate memory if a goto passes its declaration. */
#if defined __clang__ && !defined __cplusplus
#define DLEX_STAYS_()     __label__ dlex_end_; if (0) goto dlex_end_;
#define DLEX_STAYS_END_() dlex_end_: ;
#else
#define DLEX_STAYS_()
#define DLEX_STAYS_END_()
#endif

/* Each finally part comes back here, until no block of this function is open. */
#define DLEX_DEPART_()                                                                          \
    sigjmp_buf dlex_back_;                                                                      \
    if (sigsetjmp(dlex_back_, 0) != 0) { }                                                      \
    dlex_depart_(__builtin_frame_address(0), &dlex_back_)

#define DLEX_HERE_     __FILE__ ":" DLEX_TEXT_(__LINE__)

/*
 * The order of the parts is checked by types that mean one thing where a block begins and another, in
 * an inner scope, from dlex_handle on: a block has two scopes for that. The compiler's error shows
 * their names, and that of a bit-field.
 */
struct dlex_parts_ { char small[1]; };
#ifdef __cplusplus
#define DLEX_PARTS_WARNING_ _Pragma("GCC diagnostic ignored \"-Wshadow\"")
#define DLEX_DECLARE_(type) type;
#define DLEX_NO_HANDLE_YET_()                                                                   \
    static_assert(sizeof(struct dlex_parts_) == 1, "dlex_finally must stand before dlex_handle");
#else
#define DLEX_PARTS_WARNING_ _Pragma("GCC diagnostic ignored \"-Wc++-compat\"")
#define DLEX_DECLARE_(type) (void)sizeof(type);
#define DLEX_NO_HANDLE_YET_()                                                                   \
    (void)sizeof(struct { int dlex_finally_must_stand_before_dlex_handle_                       \
                              : sizeof(struct dlex_parts_) == 1 ? 1 : -1; });
#endif
#define DLEX_FINALLY_IS_FIRST_()                                                                \
    _Pragma("GCC diagnostic push")                                                              \
    DLEX_PARTS_WARNING_                                                                         \
    DLEX_NO_HANDLE_YET_()                                                                       \
    DLEX_DECLARE_(struct dlex_finally_may_stand_once_ { char once; })                           \
    _Pragma("GCC diagnostic pop")
#define DLEX_HANDLERS_BEGIN_()                                                                  \
    _Pragma("GCC diagnostic push")                                                              \
    DLEX_PARTS_WARNING_                                                                         \
    DLEX_DECLARE_(struct dlex_parts_ { char large[2]; })                                        \
    DLEX_DECLARE_(struct dlex_when_must_stand_after_dlex_handle_ { char after; })               \
    _Pragma("GCC diagnostic pop")
#define DLEX_HANDLERS_BEGAN_() (void)sizeof(struct dlex_when_must_stand_after_dlex_handle_),

/* The block that encloses this one in the source, by a name that has another meaning in each body. A
 * lambda cannot access it, so in C++ the enclosing block is unknown. */
#ifdef __cplusplus
#define DLEX_ENCLOSING_()
#define DLEX_IS_ENCLOSING_()
#define DLEX_ENCLOSING_BLOCK_ &dlex_block_
#else
enum { dlex_innermost_ };
#define DLEX_ENCLOSING_()                                                                       \
    const struct dlex_block_ *const dlex_enclosing_ =                                           \
        (const struct dlex_block_ *)(uintptr_t)dlex_innermost_;
#define DLEX_IS_ENCLOSING_()                                                                    \
    __extension__ __attribute__((unused))                                                       \
    const struct dlex_block_ *const dlex_innermost_ = &dlex_block_;
#define DLEX_ENCLOSING_BLOCK_ dlex_enclosing_
#endif

/* sigsetjmp stands alone in its condition, as the C standard requires. A throw, a violation and a probe
 * come back there. Nested blocks have the same names on purpose. */
#define dlex_open_(begin) dlex_open_at_(, 0, begin)
#define dlex_open_at_(declarations, measure, begin)                                             \
    {                                                                                           \
        _Pragma("GCC diagnostic push")                                                          \
        _Pragma("GCC diagnostic ignored \"-Wshadow\"")                                          \
        DLEX_ENCLOSING_()                                                                       \
        struct dlex_parts_ { char small[1]; };                                                  \
        struct dlex_when_must_stand_after_dlex_handle_;                                         \
    {                                                                                           \
        declarations                                                                            \
        static struct dlex_site_ dlex_site_ = { DLEX_HERE_, DLEX_UNKNOWN_, measure };           \
        struct dlex_block_ dlex_block_ __attribute__((cleanup(dlex_leave_)));                   \
        DLEX_IS_ENCLOSING_()                                                                    \
        _Pragma("GCC diagnostic pop")                                                           \
        dlex_block_.site = &dlex_site_;                                                         \
        dlex_block_.enclosing = DLEX_ENCLOSING_BLOCK_;                                          \
        dlex_block_.frame = dlex_address_(__builtin_frame_address(0));                          \
        dlex_block_.phase = DLEX_NEW_;                                                          \
        if (sigsetjmp(dlex_block_.env, 0) != 0)                                                 \
            dlex_land_(&dlex_block_);                                                           \
        if (dlex_block_.phase == DLEX_NEW_ && !dlex_probe_(&dlex_block_) && (begin))

DLEX_API int dlex_begin_(struct dlex_block_ *block);
DLEX_API void dlex_land_(struct dlex_block_ *block);
DLEX_API int dlex_hold_(struct dlex_block_ *block);
DLEX_API int dlex_settle_(struct dlex_block_ *block);
DLEX_API int dlex_catches_(struct dlex_block_ *block, const struct dlex_type *type);
DLEX_API void dlex_depart_(void *frame, sigjmp_buf *back);
DLEX_API void dlex_abandon_(struct dlex_block_ *block, int strict);
DLEX_API void dlex_propagate_(struct dlex_block_ *block) __attribute__((noreturn));
DLEX_API void dlex_rethrow_(struct dlex_block_ *block) __attribute__((noreturn));
DLEX_API void dlex_throw_(const struct dlex_type *type, const char *origin, void *frame)
    __attribute__((noreturn));

static inline uintptr_t dlex_address_(const void *frame)
{
    return (uintptr_t)frame;
}

#ifdef __cplusplus
/* Whether the layout that this file was compiled with is that of the library. */
static bool dlex_layout_is_known_ __attribute__((unused)) = false;

/* Several libraries may have the same inline function. In C++ its site is then one for the whole process, but each has code
 * of its own, perhaps compiled with other headers. So the site does not tell that this code was checked. */
static inline void dlex_check_file_(const struct dlex_block_ *block)
{
    if (__atomic_load_n(&dlex_layout_is_known_, __ATOMIC_RELAXED))
        return;
    dlex_check_layout_(dlex_layout_(), DLEX_VERSION, block->site->where);
    __atomic_store_n(&dlex_layout_is_known_, true, __ATOMIC_RELAXED);
}
#else
#define dlex_check_file_(block) (void)0
#endif

static inline int dlex_probe_(struct dlex_block_ *block)
{
    dlex_check_file_(block);
    if (__atomic_load_n(&block->site->finally, __ATOMIC_RELAXED) == DLEX_UNKNOWN_) {
        dlex_check_layout_(dlex_layout_(), DLEX_VERSION, block->site->where);
        block->phase = DLEX_PROBE_;
    }
    return block->phase == DLEX_PROBE_;
}

static inline void dlex_finish_(struct dlex_block_ *block)
{
    if (block->phase != DLEX_DONE_)
        dlex_settle_(block);
    if (block->exception && !block->handled)
        dlex_propagate_(block);
}

/* Whether leaving a body past its finally part is a mistake. With -fexceptions a body is also left when
 * pthread_exit or cancellation unwinds its thread, which is not a mistake. */
enum { DLEX_LAX_, DLEX_STRICT_, DLEX_STRICT_UNLESS_UNWOUND_ };
#if defined NDEBUG
#define DLEX_STRICTNESS_ DLEX_LAX_
#elif defined __EXCEPTIONS
#define DLEX_STRICTNESS_ DLEX_STRICT_UNLESS_UNWOUND_
#else
#define DLEX_STRICTNESS_ DLEX_STRICT_
#endif

static inline void dlex_leave_(struct dlex_block_ *block)
{
    if (block->phase != DLEX_DONE_)
        dlex_abandon_(block, DLEX_STRICTNESS_);
}

#ifdef __cplusplus
}
#endif

#endif
