/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* storm_loops.h: what is aborted. Loops without end over ordinary library code, each of which sees
 * by itself whether an earlier abort has damaged something. */
#ifndef STORM_LOOPS_H
#define STORM_LOOPS_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

enum storm_kind { STORM_HEAP, STORM_SCOPED, STORM_STDIO, STORM_LOCKS, STORM_COMPUTE, STORM_KINDS };

extern const char *const storm_kind_names[STORM_KINDS];

/* What the loops found wrong, and the harness around them; all threads add to it. */
struct storm_faults {
    atomic_ullong damaged_memory;   /* pieces of memory whose contents are not what was written */
    atomic_ullong torn_records;     /* in a stream */
    atomic_ullong damaged_counters; /* that are changed together under one lock, and differ */
    atomic_ullong open_sections;    /* sections or locks counted after a block */
};
extern struct storm_faults storm_faults;

/* The tools of one thread: the numbers that decide what its loops do, and its own streams. */
struct storm_tools {
    uint32_t random;
    FILE *file;   /* of records */
    FILE *memory; /* grows by itself */
    char *memory_text;
    size_t memory_size;
};

/* Before the first thread; 0, or -1 with errno. Locks and a stream that all threads share. */
int storm_loops_init(void);
/* After the last: counts into storm_faults what is wrong with them. Returns how many of the locks
 * are still held by nobody who lives. */
int storm_loops_finish(void);

/* The tools of the calling thread; 0, or -1 with errno. */
int storm_tools_init(struct storm_tools *tools, uint32_t seed);
void storm_tools_finish(struct storm_tools *tools);
uint32_t storm_random(struct storm_tools *tools);

/* Never returns: to be called in a block with a constraint. */
void storm_loop(enum storm_kind kind, struct storm_tools *tools);
/* After the block: looks at what a loop of the kind may have left behind. Returns how many
 * pieces of memory that is (see heap_ledger.h); they are freed. */
int storm_loop_left(enum storm_kind kind, struct storm_tools *tools);
/* Before the block. */
void storm_loop_entered(enum storm_kind kind);

#endif
