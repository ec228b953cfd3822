/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The malloc family. glibc also exports its own functions under separate names, so these calls are
 * direct: they need no table and no look-up, which would need memory itself. With AddressSanitizer its
 * interceptors take their place. What libc allocates itself (getline, fopen) comes through here as
 * well.
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard.h"

/* GUARD_ALLOCATOR is __libc_, or __interceptor_ with AddressSanitizer. */
#define REAL_(prefix, fn) prefix##fn
#define REAL2_(prefix, fn) REAL_(prefix, fn)
#define REAL(fn) REAL2_(GUARD_ALLOCATOR, fn)

void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t count, size_t size);
void *REAL(realloc)(void *memory, size_t size);
void *REAL(memalign)(size_t alignment, size_t size);
void *REAL(valloc)(size_t size);
void *REAL(pvalloc)(size_t size);
void REAL(free)(void *memory);

#define GUARDED_MEMORY(type, fn, params, call)                                                  \
    DLEX_API type *fn params                                                                    \
    {                                                                                           \
        const int depth = guard_enter();                                                        \
        return guard_hand_over(depth, call, free);                                              \
    }

GUARDED_MEMORY(void, malloc, (size_t size), REAL(malloc)(size))
GUARDED_MEMORY(void, calloc, (size_t count, size_t size), REAL(calloc)(count, size))
GUARDED_MEMORY(void, memalign, (size_t alignment, size_t size),
               REAL(memalign)(alignment, size))
GUARDED_MEMORY(void, aligned_alloc, (size_t alignment, size_t size),
               REAL(memalign)(alignment, size))
GUARDED_MEMORY(void, valloc, (size_t size), REAL(valloc)(size))
GUARDED_MEMORY(void, pvalloc, (size_t size), REAL(pvalloc)(size))

/* Needed only for AddressSanitizer, which has its own versions of these. */
GUARD_SYMBOL(strdup)
GUARD_SYMBOL(strndup)
GUARDED_MEMORY(char, strdup, (const char *s), NEXT(strdup)(s))
GUARDED_MEMORY(char, strndup, (const char *s, size_t n), NEXT(strndup)(s, n))

DLEX_API void free(void *memory)
{
    const int depth = guard_enter();
    REAL(free)(memory);
    guard_leave(depth);
}

/* The old memory is gone when a violation is delivered here, so the new memory is freed too. If memory
 * did not move, or could not, it stays as it was. */
DLEX_API void *realloc(void *memory, size_t size)
{
    const int depth = guard_enter();
    void *const moved = REAL(realloc)(memory, size);
    if (moved != memory)
        return guard_hand_over(depth, moved, free);
    guard_leave(depth);
    return moved;
}

DLEX_API void *reallocarray(void *memory, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(memory, total);
}

DLEX_API int posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (alignment % sizeof(void *) || alignment == 0 || (alignment & (alignment - 1)))
        return EINVAL;
    dlex_try_within_disable();
    const int saved_errno = errno;
    void *const aligned = REAL(memalign)(alignment, size);
    errno = saved_errno;
    if (aligned)
        *memory = aligned;
    dlex_try_within_enable();
    return aligned ? 0 : ENOMEM;
}

GUARDED(int, malloc_trim, (size_t pad), (pad))
GUARDED(int, mallopt, (int param, int value), (param, value))
GUARDED(int, malloc_info, (int options, FILE *stream), (options, stream))
GUARDED_VOID(malloc_stats, (void), ())
GUARDED(struct mallinfo2, mallinfo2, (void), ())
