/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records of one thread's perf event (perf_event_open(2)), in memory that the kernel shares. An ordinary user may lock 516 KiB for
 * such rings (kernel.perf_event_mlock_kb), and more within RLIMIT_MEMLOCK. Not thread-safe.
 */
#ifndef SCHED_PERF_RING_H
#define SCHED_PERF_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_ring {
    int fd;        /* -1: closed */
    void *pages;   /* the kernel's control page and the records, mapped */
    size_t size;   /* of the records */
    int64_t lost;  /* records that did not fit; drain more often */
};

/* A record, cut off after 64 bytes. Events with sample_id_all and PERF_SAMPLE_TIME alone have the time behind each header. */
union perf_record {
    struct perf_event_header header;
    struct {
        struct perf_event_header header;
        uint64_t time_ns;
    } timed;
    struct {
        struct perf_event_header header;
        uint64_t id;
        uint64_t lost;
    } gap;
    unsigned char bytes[64];
};

/* Called for each record in its order. */
typedef void perf_record_sink(void *context, const union perf_record *record);

/*
 * Opens an event of a thread, with this many pages for records, a power of 2. Returns 0 or a negative errno of perf_event_open(2) or
 * mmap(2), with nothing to close.
 */
int perf_ring_open(struct perf_ring *ring, const struct perf_event_attr *attributes, pid_t thread, int pages);

/*
 * Opens another event of the same thread, whose records go into the same ring. Returns its descriptor, which the caller closes, or a
 * negative errno.
 */
int perf_ring_join(const struct perf_ring *ring, const struct perf_event_attr *attributes, pid_t thread);

/* Passes on what was recorded since the last call, and adds to ring->lost. Never blocks. */
void perf_ring_drain(struct perf_ring *ring, perf_record_sink *sink, void *context);

enum { PERF_RINGS_MAX = 128 };

/*
 * Finds out by one system call which threads have ended, of at most PERF_RINGS_MAX rings; a closed ring counts as not ended. Another
 * thread may have the id of an ended one by now: a thread that calls exec takes the id of the first thread of its process. The last
 * records can still be drained.
 */
void perf_rings_find_ended(const struct perf_ring *const *rings, int count, bool *has_ended);

/* Closes a ring, which may be closed already. */
void perf_ring_close(struct perf_ring *ring);

#endif
