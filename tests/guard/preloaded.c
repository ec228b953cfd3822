/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program that knows nothing of libdlex-guard: aborts N naive loops over the heap, and as many
 * over pure computation, and says so. preloaded.sh runs it. */
#include <stdio.h>
#include <stdlib.h>

#include <dlex/dlex.h>

static void allocate_for_ever(void)
{
    void *slots[16] = { NULL };
    for (unsigned i = 0;; i++) {
        free(slots[i % 16]);
        slots[i % 16] = malloc(i * 37 % 5000);
    }
}

static int aborted(int64_t ns, int allocate)
{
    dlex_try_within_rel(ns) {
        if (allocate)
            allocate_for_ever();
        for (;;)
            __asm__ __volatile__("");
    } dlex_handle dlex_when(dlex_deadline_violation) {
        return 1;
    } dlex_end
    return 0;
}

int main(int argc, char **argv)
{
    const int loops = argc > 1 ? atoi(argv[1]) : 0;
    int aborts = aborted(100000, 0);
    for (int i = 0; i < loops; i++)
        aborts += aborted(20000 + i * 7919 % 30000, 1);
    printf("%d aborts\n", aborts);
    return 0;
}
