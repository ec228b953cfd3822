/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens blocks that measure. Their end is in block.c, the report in report*.c. */
#include "measure.h"

#include "thread.h"

/* Returns the time left of the constraint, at the opening; INT64_MAX: there is none. */
static int64_t left_ns(int how, int64_t ns)
{
    if ((how & DLEX_KINDS_) != DLEX_ABS_ || ns == INT64_MAX)
        return ns;
    const int64_t now_ns = dlex_now_ns();
    return ns < INT64_MIN + now_ns ? INT64_MIN : ns - now_ns;
}

int dlex_measure_begin(struct dlex_block_ *block, int64_t ns)
{
    struct dlex_measure_ *const site = block->site->measure;
    dlex_begin_within_(block, INT64_MAX, (site->how & ~DLEX_KINDS_) | DLEX_ABS_);
    /* A violation of a block around this one waits until this body is counted as entered. */
    dlex_try_within_disable();
    block->given_ns = left_ns(site->how, ns);
    dlex_site_enter(site, block->given_ns);
    block->how |= DLEX_MEASURED_;
    /* In this order the wall-clock time does not include the system call for the CPU time. */
    block->started_cpu_ns = dlex_cpu_ns();
    block->started_ns = dlex_now_ns();
    dlex_try_within_enable();
    return 1;
}

struct measure_cost dlex_measure_cost(void)
{
    enum { ROUNDS = 1000 };
    static struct samples samples;
    static struct dlex_measure_ measure = {
        .samples = (struct dlex_samples_ *)&samples, .linked = 1, /* not a call site to report */
    };
    dlex_histogram_clear(&samples.wall);
    dlex_histogram_clear(&samples.cpu);
    const int64_t start_ns = dlex_now_ns();
    for (volatile int i = 0; i < ROUNDS; i++) {
        dlex_open_at_(, &measure, dlex_measure_begin(&dlex_block_, INT64_MAX)) {
        } dlex_end
    }
    const int64_t program_ns = (dlex_now_ns() - start_ns) / ROUNDS;
    return (struct measure_cost){
        .wall_ns = dlex_histogram_summarise(&samples.wall).p50_ns,
        .cpu_ns = dlex_histogram_summarise(&samples.cpu).p50_ns,
        .program_ns = program_ns,
    };
}
