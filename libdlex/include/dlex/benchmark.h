/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlex/benchmark.h: measure code segments instead of enforcing their constraints, to find the
 * constraints that suit them (seed 000, section 4, requirement 12, and section 6.5).
 *
 *     cc -DDLEX_BENCHMARK decoder.c -ldlex && DLEX_BENCHMARK=decoder.json ./a.out
 *
 * In a file that is compiled with DLEX_BENCHMARK defined, each dlex_try_within_* is a call site that
 * measures. Its body always runs to its end: its constraint arms no timer, is never violated, and
 * dlex_checkpoint, dlex_remaining_ns and dlex_deadline_ns ignore it. Exceptions that the body throws,
 * finally parts and handlers work as usual. The library is the same in both cases, and files with and
 * without the switch may be mixed: a constraint of another file that stands around a measured body is
 * enforced in it.
 *
 * For each call site (file, line, function and kind of block; copies of an inline function count as
 * one) the report has: the constraint that was given (the least and the most, if it varies; for _abs,
 * the time that was left at the opening); the number of bodies that ended; how many of them would have
 * missed the constraint; minimum, mean, standard deviation, median, 90th and 99th percentile and
 * maximum of wall-clock and of CPU time; and both distributions. Percentiles are at most 1.6 % off, the
 * other figures are those of the values. Bodies that were left by an exception are counted separately
 * and are in no other figure. So are those that were entered and have not ended (they still run, or
 * were left by longjmp or the end of their thread).
 *
 * The report proposes a deadline (wall) and a WCET (CPU) for a miss ratio. The proposal is the upper
 * bound of a bucket of the histogram (at most 3.1 % wide). The bucket is that of the sample with as
 * many others above it as the ratio allows, with a margin for chance: in 95 cases of 100 a limit made
 * so is missed at the ratio or less, whatever the distribution, if samples are independent and the
 * future is like them. That needs about 3 / ratio samples; if there are fewer, the report says how many
 * are missing, and proposes nothing. n samples cannot say anything about ratios below about 1/n: no
 * estimate made of them can.
 *
 * Measuring reads two clocks at either end, one of them by a system call, and adds to two histograms
 * without a lock and without an allocation, after the clocks of the end were read. The report has what
 * an empty block measures, and what it costs; neither is subtracted. Time that a measured body spends
 * in measured blocks inside it includes their cost.
 *
 * The report is written when the process ends by exit or by the end of main. The process that entered a
 * call site first writes it, its forked children do not. Environment variables:
 *     DLEX_BENCHMARK=FILE            JSON if FILE ends in .json, else text; "-" or unset: text on
 *                                    stderr. A regular file appears when it is complete.
 *     DLEX_BENCHMARK_MISS_RATIO=R    0 < R < 1; 0.01 if unset
 * A failure to write it is one sentence on stderr. A set-user-ID program ignores both variables.
 *
 * Limits: a shared object with call sites must not be unloaded. Function bodies with a call site
 * cannot be C99 "inline" without static, nor constexpr. Times above 39 hours share a bucket.
 */
#ifndef DLEX_BENCHMARK_H
#define DLEX_BENCHMARK_H

#include <stdint.h>
#include <stdio.h>

#include <dlex/exception.h>

#ifdef __cplusplus
extern "C" {
#endif

enum dlex_benchmark_format { DLEX_BENCHMARK_TEXT, DLEX_BENCHMARK_JSON };

/*
 * Writes the report of all call sites that were entered so far, sorted by file and line, in the order
 * "file, line, function, kind", proposing limits for this miss ratio. The call is a protected section;
 * bodies of other threads may end meanwhile, and each is then in the report or not. Needs 64 KiB of
 * stack. Not for signal handlers. The stream remains the caller's. Returns 0; -EINVAL if the ratio is
 * not between 0 and 1, exclusive, or the format is unknown; or the negative errno value of the stream's
 * failure (-EIO if it had failed before).
 */
DLEX_API int dlex_benchmark_write(FILE *out, enum dlex_benchmark_format format,
                                  double miss_ratio);

/* Forgets all samples. A body that runs meanwhile counts when it ends, and one that ends meanwhile
 * may be counted in a part of the figures. Thread-safe, and safe in signal handlers. */
DLEX_API void dlex_benchmark_reset(void);

/* ------------------------------------------------------------------------------------------- */
/* What follows belongs to the macros. Names that end in an underscore are not an interface.    */

#define DLEX_MEASURE_(how)                                                                      \
    static struct dlex_samples_ dlex_samples_;                                                  \
    static struct dlex_measure_ dlex_measure_ = { __FILE__, __func__, __LINE__, (how),          \
                                                  &dlex_samples_, 0, 0 };

/* The form that the constructs of dlex/within.h take in benchmark mode. */
#define dlex_measure_within_(ns, how)                                                           \
    dlex_open_at_(DLEX_IS_WIDE_(ns) DLEX_MEASURE_(how), &dlex_measure_, dlex_benchmark_begin_(&dlex_block_, (ns)))

DLEX_API int dlex_benchmark_begin_(struct dlex_block_ *block, int64_t ns);

#ifdef __cplusplus
}
#endif

#endif
