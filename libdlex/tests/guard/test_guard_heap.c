/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The heap with libdlex-guard. Not here: allocations by libc itself (the storm tests them); memory that
 * a program loses because it is aborted between the return of malloc and the assignment, which no guard
 * can prevent. The linker puts functions of this file between the guard and libc (--wrap).
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dlex_testing.h"

/* GUARD_ALLOCATOR is the prefix of the functions that the guard calls. */
#define PASTE_(prefix, allocator, fn) prefix##allocator##fn
#define PASTE(prefix, allocator, fn) PASTE_(prefix, allocator, fn)
#define REAL(fn) PASTE(__real_, GUARD_ALLOCATOR, fn)
#define WRAP(fn) PASTE(__wrap_, GUARD_ALLOCATOR, fn)

void *REAL(malloc)(size_t size);
void REAL(free)(void *memory);
void *WRAP(malloc)(size_t size);
void WRAP(free)(void *memory);

static __thread int64_t burn_until_ns; /* the next malloc lasts until then */
static __thread volatile int unprotected;
static void *volatile long_malloc; /* what that malloc returned */
static volatile bool given_back;

void *WRAP(malloc)(size_t size)
{
    unprotected += dlex_guard_.depth <= 0;
    void *const memory = REAL(malloc)(size);
    if (burn_until_ns) {
        burn_until(burn_until_ns);
        burn_until_ns = 0;
        long_malloc = memory;
        given_back = false;
    }
    return memory;
}

void WRAP(free)(void *memory)
{
    unprotected += dlex_guard_.depth <= 0;
    given_back |= memory && memory == long_malloc;
    REAL(free)(memory);
}

START_TEST(deadline_inside_malloc_is_delivered_at_its_end_and_the_memory_is_freed)
{
    log_clear();
    const int64_t deadline_ns = dlex_now_ns() + SOON;
    dlex_try_within_abs(deadline_ns) {
        burn_until_ns = deadline_ns + MS;
        void *volatile memory = malloc(100);
        log_mark(memory ? 'x' : 'y');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "d");
    ck_assert(given_back);
}
END_TEST

START_TEST(deadline_inside_malloc_in_a_section_waits_and_the_memory_is_kept)
{
    log_clear();
    void *volatile memory = NULL;
    const int64_t deadline_ns = dlex_now_ns() + SOON;
    dlex_try_within_abs(deadline_ns) {
        dlex_try_within_disable();
        burn_until_ns = deadline_ns + MS;
        memory = malloc(100);
        log_mark('m');
        dlex_try_within_enable();
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "md");
    ck_assert(!given_back);
    free(memory);
}
END_TEST

/* The memory that such a loop leaves behind is never used again: the abort loses the pointers to it. */
static void allocate_for_ever(unsigned seed)
{
    enum { SLOTS = 32 };
    void *slots[SLOTS] = { NULL };
    for (unsigned i = seed;; i = i * 1103515245 + 12345) {
        void **const slot = &slots[i / 65536 % SLOTS];
        if (i / 3 % 4 == 0) {
            *slot = realloc(*slot, 1 + i / 7 % 3000);
        } else {
            free(*slot);
            *slot = i % 2 ? malloc(i / 7 % 3000) : calloc(1 + i / 7 % 30, 40);
        }
    }
}

START_TEST(naive_allocation_loops_are_aborted_at_any_instruction_and_the_heap_stays_whole)
{
    volatile int aborts = 0;
    unprotected = 0;
    for (volatile int i = 0; i < 5000; i++) {
        dlex_try_within_rel(INT64_C(5000) + i * 7919 % 30000) {
            allocate_for_ever(i);
        } dlex_handle dlex_when(dlex_deadline_violation) {
            aborts = aborts + 1;
        } dlex_end
    }
    ck_assert_int_eq(aborts, 5000);
    ck_assert_int_eq(unprotected, 0);
    /* Walks all free lists: glibc ends the program if they are inconsistent. */
    malloc_trim(0);
}
END_TEST

START_TEST(malloc_family_behaves_as_its_manual_page_says)
{
    void *memory = NULL;
    ck_assert_int_eq(posix_memalign(&memory, 64, 10), 0);
    ck_assert_uint_eq((uintptr_t)memory % 64, 0);
    memory = realloc(memory, 5000);
    ck_assert_ptr_nonnull(memory);
    free(memory);
    ck_assert_int_eq(posix_memalign(&memory, 3, 10), EINVAL);
    ck_assert_int_eq(posix_memalign(&memory, 4, 10), EINVAL);
    ck_assert_int_eq(posix_memalign(&memory, 24, 10), EINVAL);
    memory = aligned_alloc(4096, 4096);
    ck_assert_uint_eq((uintptr_t)memory % 4096, 0);
    free(memory);
    memory = memalign(256, 1);
    ck_assert_uint_eq((uintptr_t)memory % 256, 0);
    free(memory);
    memory = valloc(1);
    ck_assert_uint_eq((uintptr_t)memory % 4096, 0);
    free(memory);
    memory = reallocarray(NULL, 3, 7);
    ck_assert_uint_ge(malloc_usable_size(memory), 21);
    const volatile size_t all = SIZE_MAX;
    ck_assert_ptr_null(reallocarray(memory, all, 2));
    ck_assert_int_eq(errno, ENOMEM);
    free(memory);
    memory = strdup("libc allocates through the guard");
    ck_assert_ptr_nonnull(memory);
    free(memory);
    free(NULL);
}
END_TEST

START_TEST(lack_of_memory_is_reported_by_null_and_errno)
{
    const volatile size_t all = PTRDIFF_MAX;
    errno = 0;
    ck_assert_ptr_null(malloc(all));
    ck_assert_int_eq(errno, ENOMEM);
    errno = 0;
    ck_assert_ptr_null(calloc(all, 2));
    ck_assert_int_eq(errno, ENOMEM);
    char *const memory = malloc(10);
    strcpy(memory, "kept");
    ck_assert_ptr_null(realloc(memory, all));
    ck_assert_str_eq(memory, "kept");
    errno = 0;
    void *aligned = memory;
    ck_assert_int_eq(posix_memalign(&aligned, 16, all), ENOMEM);
    ck_assert_int_eq(errno, 0);
    ck_assert_ptr_eq(aligned, memory);
    free(memory);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        deadline_inside_malloc_is_delivered_at_its_end_and_the_memory_is_freed,
        deadline_inside_malloc_in_a_section_waits_and_the_memory_is_kept,
        naive_allocation_loops_are_aborted_at_any_instruction_and_the_heap_stays_whole,
        malloc_family_behaves_as_its_manual_page_says,
        lack_of_memory_is_reported_by_null_and_errno,
        NULL,
    };
    return suite_run("libdlex-guard heap", 120, tests);
}
