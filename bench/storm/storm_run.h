/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* storm_run.h: runs one number of threads and aborts them until there have been enough aborts. */
#ifndef STORM_RUN_H
#define STORM_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "storm_loops.h"

enum { STORM_THREADS_MAX = 256 };

struct storm_result {
    int threads;
    uint64_t aborts[STORM_KINDS];
    uint64_t left_pieces;  /* of memory, left by aborted heap loops, then freed; see heap_ledger.h */
    uint64_t not_aborted;  /* blocks that ended without a violation: there should be none */
    int64_t duration_ns;
    int64_t leaked_bytes;
    int leaked_descriptors;
    bool stalled;          /* a thread made no progress, so the run was given up */
};

/* Runs `aborts` blocks in `threads` threads. Each thread has its own sequence of loops and
 * deadlines, which depends on the seed. Draws a line of progress on stderr if that is a terminal:
 * earlier runs have done `before` of `all` aborts. Returns 0 or a negative errno value. After a
 * stall the threads still exist, and the process has to end. */
int storm_run(struct storm_result *result, int threads, uint64_t aborts, uint32_t seed,
              uint64_t before, uint64_t all);

/*
 * Creates and ends this many threads, so that libc's caches of stacks are already as they will be
 * later.
 */
void storm_warm_up(int threads);

static inline uint64_t storm_aborts(const struct storm_result *result)
{
    uint64_t sum = 0;
    for (int kind = 0; kind < STORM_KINDS; kind++)
        sum += result->aborts[kind];
    return sum;
}

#endif
