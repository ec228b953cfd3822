/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * malloc-pairs: reads numbers of malloc and free pairs, one per line, and answers each with the
 * nanoseconds that the pairs took. Built both with the guard (DLEX_GUARDED; a block is open then)
 * and without it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ns.h"

#ifdef DLEX_GUARDED
#include <dlex/dlex.h>
#endif

#define HOUR_NS (3600 * NS_PER_S)

enum { SIZES = 64 };

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ns_from_timespec(now);
}

/* Allocates small sizes, as programs do. After the first round all come from the thread's cache. */
static void allocate(int pairs)
{
    for (int i = 0; i < pairs; i++) {
        void *memory = malloc(16 + 16 * (i % SIZES));
        __asm__ __volatile__("" : : "r"(memory) : "memory"); /* else the pair is optimised away */
        free(memory);
    }
}

#ifdef DLEX_GUARDED
static int64_t timed_ns(int pairs)
{
    volatile int64_t took_ns = 0;
    dlex_try_within_rel(HOUR_NS) {
        const int64_t start_ns = now_ns();
        allocate(pairs);
        took_ns = now_ns() - start_ns;
    } dlex_end
    return took_ns;
}
#else
static int64_t timed_ns(int pairs)
{
    const int64_t start_ns = now_ns();
    allocate(pairs);
    return now_ns() - start_ns;
}
#endif

int main(void)
{
    int pairs;
    while (scanf("%d", &pairs) == 1) {
        printf("%lld\n", (long long)timed_ns(pairs));
        if (fflush(stdout))
            return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
