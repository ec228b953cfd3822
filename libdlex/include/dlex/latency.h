/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlex/latency.h: how late the violations of this process were taken (seed 000, section 4, requirement
 * 11, and section 7.1). It is the distribution of caught_ns - deadline_ns, in the clock of the
 * constraint, over every violation of every thread that reached the block which owns it. For one
 * violation, see dlex_last_violation and dlex_expired_ns in dlex/within.h.
 *
 *     struct dlex_latency late;
 *     dlex_latency_read(&dlex_deadline_violation, &late);
 *     printf("%" PRIu64 " missed, half of them noticed within %" PRId64 " ns\n",
 *            late.count, late.p50_ns);
 *
 * Waits are included: for the end of a protected section, for a checkpoint, for the processor. A block
 * that was opened after its deadline, or bound to a trigger after its firing, counts with the whole delay. The count of those that waited for a
 * section shows whether the sections are what makes them late.
 */
#ifndef DLEX_LATENCY_H
#define DLEX_LATENCY_H

#include <stdint.h>

#include <dlex/exception.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All times are in nanoseconds; all fields are zero if there was no violation. A percentile is the
 * smallest latency that this percentage of the violations did not exceed, at most 1.6 % off; the other
 * figures are exact. The standard deviation is that of the whole population. */
struct dlex_latency {
    uint64_t count;
    uint64_t delayed; /* those that had to wait for the end of a protected section */
    int64_t min_ns, max_ns;
    int64_t p50_ns, p90_ns, p99_ns;
    double mean_ns, stddev_ns;
};

/*
 * Fills *out with the figures of dlex_deadline_violation, of dlex_wcet_violation, of
 * dlex_trigger_violation, or of all together for dlex_timing_violation (and for its ancestor
 * dlex_exception); all zero for any other type. Those of deadlines do not include those of triggers. A
 * violation that another thread counts at this moment may be in a part of the figures. Any thread; safe
 * in signal handlers; needs 12 KiB of stack. Takes some microseconds.
 */
DLEX_API void dlex_latency_read(const struct dlex_type *violation, struct dlex_latency *out);

/* Forgets all violations, of all types. Any thread; safe in signal handlers. A violation that another
 * thread counts at this moment may be lost, or be in a part of the figures. */
DLEX_API void dlex_latency_reset(void);

#ifdef __cplusplus
}
#endif

#endif
