/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report.h"

#include <errno.h>

#include <dlex/within.h>

#include "thread.h"
#include "tolerance.h"

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
        .cost = dlex_measure_cost(),
    };
    const int err = write_report(&r, format);
    dlex_try_within_enable();
    return err;
}
