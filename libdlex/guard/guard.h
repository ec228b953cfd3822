/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * guard.h: how libdlex-guard wraps a function of libc: the function that the program would have called
 * runs as a protected section (dlex/within.h). Each wrapped function is one line of a table in one of
 * the files here. dlex-guard(7) lists the wrapped functions and the missing ones.
 */
#ifndef DLEX_GUARD_H
#define DLEX_GUARD_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <dlex/scoped.h>
#include <dlex/within.h>

/* A name, and the next definition of it after the guard's: libc's, as a rule. All of them are resolved
 * when the library is loaded, or when code that starts even earlier calls one. */
struct guard_symbol {
    const char *name;
    void *next;
};

/* next.c: returns the definition; ends the program with a message if there is none. */
void *guard_resolve(struct guard_symbol *symbol);

#define GUARD_SYMBOL(fn) GUARD_SYMBOL_NAMED(fn, #fn)
#define GUARD_SYMBOL_NAMED(fn, name)                                                            \
    static struct guard_symbol symbol_##fn __attribute__((section("guard_symbols"), used))      \
        = { name, NULL };

#define NEXT(fn) ((__typeof__(&fn))guard_next(&symbol_##fn))

static inline void *guard_next(struct guard_symbol *symbol)
{
    void *const next = __atomic_load_n(&symbol->next, __ATOMIC_RELAXED);
    return __builtin_expect(next != NULL, 1) ? next : guard_resolve(symbol);
}

/* GUARDED(int, fputs, (const char *s, FILE *f), (s, f)) defines fputs as a section round the next
 * fputs. errno is as the next function leaves it. */
#define GUARDED(type, fn, params, args)                                                         \
    GUARD_SYMBOL(fn)                                                                            \
    GUARDED_BODY(type, fn, params, args)

#define GUARDED_BODY(type, fn, params, args)                                                    \
    DLEX_API type fn params                                                                     \
    {                                                                                           \
        dlex_try_within_disable();                                                              \
        type const result = NEXT(fn) args;                                                      \
        dlex_try_within_enable();                                                               \
        return result;                                                                          \
    }

#define GUARDED_VOID(fn, params, args)                                                          \
    GUARD_SYMBOL(fn)                                                                            \
    DLEX_API void fn params                                                                     \
    {                                                                                           \
        dlex_try_within_disable();                                                              \
        NEXT(fn) args;                                                                          \
        dlex_try_within_enable();                                                               \
    }

/* Does the same for fn(params, ...) by the function that takes a va_list named ap; last is the
 * parameter before the dots. vfn must have a symbol already. */
#define GUARDED_DOTS(fn, params, last, vfn, args)                                               \
    DLEX_API int fn params                                                                      \
    {                                                                                           \
        dlex_try_within_disable();                                                              \
        va_list ap;                                                                             \
        va_start(ap, last);                                                                     \
        const int result = NEXT(vfn) args;                                                      \
        va_end(ap);                                                                             \
        dlex_try_within_enable();                                                               \
        return result;                                                                          \
    }

/*
 * A section that saves the time to load what was just stored, which matters for malloc: the depth at
 * the end is that of the beginning, so it need not be read again.
 */
static inline int guard_enter(void)
{
    const int depth = dlex_guard_.depth;
    dlex_guard_.depth = depth + 1;
    DLEX_FENCE_();
    return depth;
}

static inline void guard_leave(int depth)
{
    DLEX_FENCE_();
    dlex_guard_.depth = depth;
    if (depth == 0 && dlex_guard_.pending)
        dlex_lift_();
}

/* next.c. Outside the section, with a violation pending: delivers it, and releases the resource, since
 * no code has seen it. If nothing is delivered, returns the resource. */
void *guard_last_look(void *resource, void (*release)(void *));

/* Ends the section of a function that returns a resource. */
static inline void *guard_hand_over(int depth, void *resource, void (*release)(void *))
{
    DLEX_FENCE_();
    dlex_guard_.depth = depth;
    if (__builtin_expect(depth == 0 && dlex_guard_.pending, 0))
        return guard_last_look(resource, release);
    return resource;
}

#endif
