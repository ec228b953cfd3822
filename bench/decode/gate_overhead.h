/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures what an open gate costs when nothing is interrupted: the CPU time of the patched decoder
 * with a deadline an hour away, divided by that of a pristine FFmpeg. A pair is two processes of
 * timed_decode. They take turns of a second of film each (A B, B A, A B, ...), so that other load
 * of the machine affects both. Each pair has new processes, so that their memory addresses differ
 * from pair to pair.
 */
#ifndef GATE_OVERHEAD_H
#define GATE_OVERHEAD_H

#include <stdint.h>

#include "sample_stats.h"

enum { OVERHEAD_MOST_PAIRS = 100 };

struct overhead_pair {
    int64_t gated_ns;
    int64_t pristine_ns;
};

struct gate_overhead {
    /* input */
    const char *gated_program;
    const char *pristine_program;
    const char *clip;
    size_t packet_count; /* at most; 0: all */
    int pair_count;   /* at most OVERHEAD_MOST_PAIRS */
    uint64_t seed;    /* of the bootstrap */

    /* results */
    struct overhead_pair pairs[OVERHEAD_MOST_PAIRS];
    int pictures; /* of one pass */
    double spread_low; /* smallest and largest ratio of a pair */
    double spread_high;
    struct stats_interval ratio; /* gated / pristine */
};

/*
 * Runs the pairs and prints progress on stderr. Returns 0. Returns -1, after printing an error,
 * when a program failed or decoded another number of pictures than the others.
 */
int overhead_measure(struct gate_overhead *overhead);

#endif
