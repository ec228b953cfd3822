/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "heap_ledger.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <dlex/dlex.h>

#ifdef __SANITIZE_ADDRESS__
enum { ACCOUNTED = 0 };
#else
enum { ACCOUNTED = 1 };
#endif

enum { ROOM = 128 };

struct account {
    bool open;
    int count;
    void *pieces[ROOM];
};

static __thread struct account account;
static atomic_ullong unprotected, overflows;
static atomic_llong in_use; /* bytes, in the whole process */

/* GUARD_ALLOCATOR is the prefix of the functions that the guard's functions call. */
#define PASTE_(prefix, allocator, fn) prefix##allocator##fn
#define PASTE(prefix, allocator, fn) PASTE_(prefix, allocator, fn)
#define REAL(fn) PASTE(__real_, GUARD_ALLOCATOR, fn)
#define WRAP(fn) PASTE(__wrap_, GUARD_ALLOCATOR, fn)

void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t count, size_t size);
void *REAL(realloc)(void *memory, size_t size);
void *REAL(memalign)(size_t alignment, size_t size);
void REAL(free)(void *memory);
void *WRAP(malloc)(size_t size);
void *WRAP(calloc)(size_t count, size_t size);
void *WRAP(realloc)(void *memory, size_t size);
void *WRAP(memalign)(size_t alignment, size_t size);
void WRAP(free)(void *memory);

/*
 * Returns 0 with AddressSanitizer: early in a program it does not answer yet, and it finds leaks
 * itself.
 */
static size_t bytes_of(void *memory)
{
    return ACCOUNTED ? malloc_usable_size(memory) : 0;
}

static void see_section(void)
{
    if (dlex_guard_.depth <= 0)
        atomic_fetch_add_explicit(&unprotected, 1, memory_order_relaxed);
}

static void *enter(void *memory)
{
    atomic_fetch_add_explicit(&in_use, bytes_of(memory), memory_order_relaxed);
    if (!account.open || !memory)
        return memory;
    if (account.count < ROOM)
        account.pieces[account.count++] = memory;
    else
        atomic_fetch_add_explicit(&overflows, 1, memory_order_relaxed);
    return memory;
}

static void strike(const void *memory, size_t bytes)
{
    atomic_fetch_sub_explicit(&in_use, bytes, memory_order_relaxed);
    for (int i = account.count - 1; account.open && i >= 0; i--) {
        if (account.pieces[i] == memory) {
            account.pieces[i] = account.pieces[--account.count];
            return;
        }
    }
}

void *WRAP(malloc)(size_t size)
{
    see_section();
    return enter(REAL(malloc)(size));
}

void *WRAP(calloc)(size_t count, size_t size)
{
    see_section();
    return enter(REAL(calloc)(count, size));
}

void *WRAP(memalign)(size_t alignment, size_t size)
{
    see_section();
    return enter(REAL(memalign)(alignment, size));
}

void *WRAP(realloc)(void *memory, size_t size)
{
    see_section();
    const size_t before = bytes_of(memory);
    void *const moved = REAL(realloc)(memory, size);
    if (moved || size == 0) {
        strike(memory, before);
        enter(moved);
    }
    return moved;
}

void WRAP(free)(void *memory)
{
    see_section();
    strike(memory, bytes_of(memory));
    REAL(free)(memory);
}

void heap_ledger_open(void)
{
    account.count = 0;
    account.open = true;
}

int heap_ledger_settle(void)
{
    account.open = false;
    const int pieces = account.count;
    for (int i = 0; i < pieces; i++)
        free(account.pieces[i]);
    account.count = 0;
    return pieces;
}

int64_t heap_ledger_in_use(void)
{
    return atomic_load(&in_use);
}

uint64_t heap_ledger_unprotected(void)
{
    return atomic_load(&unprotected);
}

uint64_t heap_ledger_overflows(void)
{
    return atomic_load(&overflows);
}
