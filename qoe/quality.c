/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "quality.h"

#include "freeze.h"
#include "ns.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int compare_values(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double percentile(const double *sorted, int64_t count, double fraction)
{
    if (!count)
        return NAN;
    const double place = fraction * (double)(count - 1);
    const int64_t below = (int64_t)place;
    const int64_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

static double sample_sd(const double *values, int64_t count, double mean)
{
    double squares = 0;
    for (int64_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return count > 1 ? sqrt(squares / (double)(count - 1)) : count ? 0 : NAN;
}

struct spread spread_of(double *values, int64_t count)
{
    qsort(values, (size_t)count, sizeof *values, compare_values);
    struct spread spread = {.count = count};
    for (int64_t i = 0; i < count; i++)
        spread.sum += values[i];
    spread.mean = count ? spread.sum / (double)count : NAN;
    spread.sd = sample_sd(values, count, spread.mean);
    spread.median = percentile(values, count, 0.5);
    spread.p90 = percentile(values, count, 0.9);
    spread.p99 = percentile(values, count, 0.99);
    return spread;
}

static void count_verdict(struct quality *quality, enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_NONE: break;
    case VERDICT_SHOWN: quality->shown++; break;
    case VERDICT_ABORTED: quality->aborted++; break;
    case VERDICT_SKIPPED: quality->skipped++; break;
    case VERDICT_LATE: quality->late++; break;
    case VERDICT_UNSEEN: quality->unseen++; break;
    }
}

static void count_rows(struct quality *quality, const struct frame_record *rows, int64_t count)
{
    int64_t drop_run = 0;
    for (int64_t i = 0; i < count; i++) {
        count_verdict(quality, (enum verdict)rows[i].verdict);
        if (rows[i].verdict == VERDICT_SHOWN) {
            quality->degraded += rows[i].degraded == DEGRADED_ITSELF;
            quality->drifted += rows[i].degraded == DEGRADED_BY_OTHERS;
            drop_run = 0;
        }
        if (was_dropped(&rows[i]) && ++drop_run > quality->longest_drop_run)
            quality->longest_drop_run = drop_run;
    }
    quality->dropped = quality->aborted + quality->skipped + quality->late + quality->unseen;
    quality->frames = quality->shown + quality->dropped;
}

/* values: room for the errors of all drops. */
static void take_rmse(struct quality *quality, double *values, const struct drop *drops, int64_t count)
{
    int64_t dropped = 0;
    for (int64_t i = 0; i < count; i++) {
        quality->rmse_sum_8bit += drops[i].rmse_8bit;
        if (was_dropped(drops[i].row))
            values[dropped++] = drops[i].rmse_8bit;
        else if (drops[i].row->degraded == DEGRADED_ITSELF)
            quality->degraded_rmse_8bit += drops[i].rmse_8bit;
        else
            quality->drifted_rmse_8bit += drops[i].rmse_8bit;
    }
    quality->rmse_8bit = spread_of(values, dropped);
    if (quality->degraded + quality->drifted > 0 && dropped == count)
        quality->degraded_rmse_8bit = quality->drifted_rmse_8bit = NAN;
}

static int64_t count_before_first(const struct drop *drops, int64_t count)
{
    int64_t before_first = 0;
    while (before_first < count && !drops[before_first].shown)
        before_first++;
    return before_first;
}

static struct spread spread_of_skew(double *values, const struct frame_record *rows, int64_t count)
{
    int64_t known = 0;
    for (int64_t i = 0; i < count; i++) {
        if (rows[i].verdict == VERDICT_SHOWN && rows[i].skew_ns != FIELD_EMPTY)
            values[known++] = ns_to_ms(rows[i].skew_ns);
    }
    return spread_of(values, known);
}

static double longest_freeze_ms(const struct frame_record *rows, int64_t count)
{
    const int64_t freeze_ns = freeze_longest_ns(rows, count);
    return freeze_ns == FIELD_EMPTY ? NAN : ns_to_ms(freeze_ns);
}

int quality_of(struct quality *quality, const struct frame_record *rows, int64_t count,
               const struct drop *drops, int64_t drop_count)
{
    *quality = (struct quality){0};
    double *const values = malloc((size_t)(count + 1) * sizeof *values);
    if (!values)
        return -ENOMEM;
    count_rows(quality, rows, count);
    quality->longest_freeze_ms = longest_freeze_ms(rows, count);
    take_rmse(quality, values, drops, drop_count);
    quality->before_first = count_before_first(drops, drop_count);
    quality->skew_ms = spread_of_skew(values, rows, count);
    free(values);
    return lip_sync_time_of(&quality->lip_sync, rows, count);
}
