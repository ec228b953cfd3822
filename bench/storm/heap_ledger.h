/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * heap_ledger.h: records what memory the aborted loops of a thread leave behind.
 *
 * Plain memory of an aborted body has no owner. The pointers to it were locals of the body, and an
 * abort may also happen between the return of malloc and the assignment, which no guard can see. A
 * program uses dlex_scoped_malloc, or keeps an account like this one. This account distinguishes
 * what is left behind from a leak. The linker (--wrap) puts these functions between the guard and
 * libc. There they run in the guard's section, in which no violation is delivered, and so they know
 * what each thread has.
 */
#ifndef HEAP_LEDGER_H
#define HEAP_LEDGER_H

#include <stdint.h>

/* Both functions are for the calling thread. From open on, what it allocates is on its account. */
void heap_ledger_open(void);
/* Frees everything that is still on the account. Returns the number of pieces freed. */
int heap_ledger_settle(void);

/*
 * Returns the bytes that the process has from the allocator. mallinfo2 would also count what the
 * allocator's caches hold.
 */
int64_t heap_ledger_in_use(void);

/* Return, for all threads, how many calls reached the allocator outside a protected section, and
 * for how many pieces the account had no room. Both are 0 unless something is wrong. */
uint64_t heap_ledger_unprotected(void);
uint64_t heap_ledger_overflows(void);

#endif
