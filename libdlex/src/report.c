/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report.h"

#include <errno.h>

#include <dlex/within.h>

#include "thread.h"
#include "tolerance.h"

int64_t dlex_report_limit(const struct report *r, const struct histogram *copy)
{
    const uint64_t count = dlex_histogram_count(copy);
    const int64_t above = dlex_tolerance_above(count, r->miss_ratio);
    if (above < 0)
        return 0;
    /* A constraint that is exactly reached counts as missed. */
    const int64_t kept_ns = dlex_histogram_rank(copy, count - (uint64_t)above).high_ns;
    return kept_ns < INT64_MAX ? kept_ns + 1 : kept_ns;
}

const char *dlex_report_kind(int how)
{
    static const char *const names[4][3] = {
        [DLEX_ABS_] = { "abs", "abs_cooperative", "abs_shielded" },
        [DLEX_REL_] = { "rel", "rel_cooperative", "rel_shielded" },
        [DLEX_WCET_] = { "wcet", "wcet_cooperative", "wcet_shielded" },
    };
    const int mode = how & DLEX_COOPERATIVE_ ? 1 : how & DLEX_SHIELDED_ ? 2 : 0;
    return names[how & DLEX_KINDS_][mode];
}

/* Counters are read one by one while other threads count, so the sum may exceed the entries. */
uint64_t dlex_report_open(const struct samples *copy, uint64_t ended)
{
    const uint64_t over = ended + copy->left;
    return copy->entered > over ? copy->entered - over : 0;
}

static void write_text(const struct report *r)
{
    struct site_total total = { 0 };
    dlex_text_head(r);
    while (dlex_sites_next(&total))
        dlex_text_site(r, &total);
}

static void write_json(const struct report *r)
{
    struct site_total total = { 0 };
    bool first = true;
    dlex_json_head(r);
    for (; dlex_sites_next(&total); first = false)
        dlex_json_site(r, &total, first);
    dlex_json_tail(r);
}

static int write_report(const struct report *r, enum dlex_benchmark_format format)
{
    const int errno_before = errno;
    errno = 0;
    if (format == DLEX_BENCHMARK_JSON)
        write_json(r);
    else
        write_text(r);
    const bool written = fflush(r->out) == 0 && !ferror(r->out);
    const int err = written ? 0 : errno ? -errno : -EIO;
    errno = errno_before;
    return err;
}

int dlex_benchmark_write(FILE *out, enum dlex_benchmark_format format, double miss_ratio)
{
    if (!(miss_ratio > 0 && miss_ratio < 1)
        || (format != DLEX_BENCHMARK_TEXT && format != DLEX_BENCHMARK_JSON))
        return -EINVAL;
    dlex_try_within_disable();
    const struct report r = {
        .out = out,
        .miss_ratio = miss_ratio,
        .needed = dlex_tolerance_samples(miss_ratio),
        .cost = dlex_site_cost(),
    };
    const int err = write_report(&r, format);
    dlex_try_within_enable();
    return err;
}
