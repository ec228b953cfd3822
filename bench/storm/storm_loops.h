/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* storm_loops.h: the code that is aborted. It consists of endless loops over ordinary library code.
 * Each loop detects by itself whether an earlier abort has damaged something. */
#ifndef STORM_LOOPS_H
#define STORM_LOOPS_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

enum storm_kind { STORM_HEAP, STORM_SCOPED, STORM_STDIO, STORM_LOCKS, STORM_COMPUTE, STORM_KINDS };

extern const char *const storm_kind_names[STORM_KINDS];

/* The damage that the loops and the harness around them found. All threads add to it. */
struct storm_faults {
    atomic_ullong damaged_memory;   /* pieces of memory whose contents are not what was written */
    atomic_ullong torn_records;     /* records in a stream that are not whole */
    atomic_ullong damaged_counters; /* counters that are changed together under one lock but differ */
    atomic_ullong open_sections;    /* sections or locks that are still counted after a block */
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

/*
 * Creates the locks and the stream that all threads share. Must be called before the first thread
 * starts. Returns 0, or -1 with errno.
 */
int storm_loops_init(void);
/* Checks the locks and the stream, and adds what is wrong to storm_faults. Must be called after the
 * last thread has ended. Returns how many of the locks are still held, although no thread lives
 * that could hold them. */
int storm_loops_finish(void);

/* Creates the tools of the calling thread. Returns 0, or -1 with errno. */
int storm_tools_init(struct storm_tools *tools, uint32_t seed);
void storm_tools_finish(struct storm_tools *tools);
uint32_t storm_random(struct storm_tools *tools);

/* Runs a loop of this kind and never returns. Must be called in a block with a constraint. */
void storm_loop(enum storm_kind kind, struct storm_tools *tools);
/* Must be called after the block. Checks what a loop of this kind may have left behind. Returns how
 * many pieces of memory it left (see heap_ledger.h); they are freed. */
int storm_loop_left(enum storm_kind kind, struct storm_tools *tools);
/* Must be called before the block. */
void storm_loop_entered(enum storm_kind kind);

#endif
