/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * heap_ledger.h: what memory the aborted loops of a thread leave behind.
 *
 * Plain memory of an aborted body belongs to nobody: its pointers were locals of the body, and an
 * abort may also fall between the return of malloc and the assignment, which no guard can see. A
 * program uses dlex_scoped_malloc, or has such an account as this one. To tell what is left behind
 * from a leak, the linker (--wrap) puts these functions between the guard and libc: in the guard's
 * section, where nothing is delivered, they know what each thread has.
 */
#ifndef HEAP_LEDGER_H
#define HEAP_LEDGER_H

#include <stdint.h>

/* Both by the calling thread. From open on, what it allocates is on its account. */
void heap_ledger_open(void);
/* Frees all that is still on the account. Returns how many pieces that were. */
int heap_ledger_settle(void);

/* Bytes that the process has from the allocator. mallinfo2 would count what its caches hold, too. */
int64_t heap_ledger_in_use(void);

/* Of all threads: calls that reached the allocator outside a protected section, and pieces for which
 * the account had no room. Both are 0 unless something is wrong. */
uint64_t heap_ledger_unprotected(void);
uint64_t heap_ledger_overflows(void);

#endif
