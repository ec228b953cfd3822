/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* storm_run.h: one number of threads, aborted until there have been enough aborts. */
#ifndef STORM_RUN_H
#define STORM_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "storm_loops.h"

enum { STORM_THREADS_MAX = 256 };

struct storm_result {
    int threads;
    uint64_t aborts[STORM_KINDS];
    uint64_t left_pieces;  /* of memory, by aborted heap loops; freed then, see heap_ledger.h */
    uint64_t not_aborted;  /* blocks that ended without a violation: there should be none */
    int64_t duration_ns;
    int64_t leaked_bytes;
    int leaked_descriptors;
    bool stalled;          /* a thread stood still, so that the run was given up */
};

/* Runs aborts blocks in so many threads, each of which has its own sequence of loops and deadlines
 * from the seed. Draws a line of progress on stderr if that is a terminal; before is what has been
 * done in earlier runs, of all. 0, or a negative errno value. After a stall the threads still are
 * there, and the process has to end. */
int storm_run(struct storm_result *result, int threads, uint64_t aborts, uint32_t seed,
              uint64_t before, uint64_t all);

/* Creates and ends so many threads, which leaves libc's caches of stacks as they will be. */
void storm_warm_up(int threads);

static inline uint64_t storm_aborts(const struct storm_result *result)
{
    uint64_t sum = 0;
    for (int kind = 0; kind < STORM_KINDS; kind++)
        sum += result->aborts[kind];
    return sum;
}

#endif
