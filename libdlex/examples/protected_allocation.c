/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory and deadlines. A deadline may interrupt a body at any instruction; inside malloc that would
 * break the heap. So the object is created in a protected section, which no deadline interrupts, and
 * released in the finally part, which always runs, once (seed 000, 5.2, last listing).
 *
 * The object is a table for the lengths of Collatz chains: n is halved if even, else it becomes 3 n +
 * 1, until it is 1. How many starts the table covers depends on the time that it is given.
 */
#include <stdio.h>
#include <stdlib.h>

#include <dlex/dlex.h>


dlex_define_exception(no_room) dlex_extends(dlex_exception);

enum { ROOM_MAX = 1 << 20 };

struct table {
    int room;
    int *length; /* of the chain that starts at its index; 0: not known yet */
};

static int tables_made, tables_given_back;

/* Returns a new table; NULL: there is no room for it. */
static struct table *table_create(int room)
{
    struct table *const t = room <= ROOM_MAX ? malloc(sizeof(*t)) : NULL;
    if (!t)
        return NULL;
    *t = (struct table){ .room = room, .length = calloc((size_t)room, sizeof(*t->length)) };
    if (!t->length) {
        free(t);
        return NULL;
    }
    tables_made++;
    return t;
}

static void table_destroy(struct table *t)
{
    if (!t)
        return;
    free(t->length);
    free(t);
    tables_given_back++;
}

static int chain_length(const struct table *t, int start)
{
    int steps = 1;
    for (uint64_t n = (uint64_t)start; n != 1; n = n % 2 ? 3 * n + 1 : n / 2) {
        if (n < (uint64_t)start)
            return steps - 1 + t->length[n];
        steps++;
    }
    return steps;
}

/* The body never ends by itself: when the table is full, it is filled again. */
static void longest_chain(int room, int64_t limit_ns)
{
    struct table *volatile table = NULL; /* volatile: set in the block, read after it */
    volatile int longest = 0, starts = 0;
    dlex_try_within_rel(limit_ns) {
        dlex_try_within_disable();
        table = table_create(room);
        if (!table)
            dlex_throw(no_room); /* ends the protected section, too */
        dlex_try_within_enable(); /* a deadline that has passed meanwhile is taken here */
        for (int n = 1;; n = n + 1 < room ? n + 1 : 1) {
            const int length = chain_length(table, n);
            table->length[n] = length;
            longest = length > longest ? length : longest;
            starts = n > starts ? n : starts;
        }
    } dlex_finally {
        table_destroy(table);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        printf("%3d ms: longest chain %d, of starts up to %d\n", (int)(limit_ns / DLEX_MS(1)), longest,
               starts);
    } dlex_when(no_room) {
        printf("%3d ms: no room for a table of %d\n", (int)(limit_ns / DLEX_MS(1)), room);
    } dlex_end
}

int main(void)
{
    for (int ms = 0; ms <= 500; ms = ms ? ms * 2 : 1)
        longest_chain(ROOM_MAX, DLEX_MS(ms));
    longest_chain(ROOM_MAX + 1, DLEX_MS(100));
    printf("%d tables made, %d given back\n", tables_made, tables_given_back);
    return tables_made == tables_given_back ? 0 : 1;
}
