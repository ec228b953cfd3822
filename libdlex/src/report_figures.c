/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report.h"
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
