/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "heard_clock.h"

#include "frame_record.h"
#include "ns.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* More than the clocks of two devices drift apart in a second, less than any audible pause. */
static const int64_t break_ns = 5000000;

/*
 * A single report is wrong by the time for which the server was preempted between reading its two numbers. So the
 * median of several reports is used.
 */
enum { REPORTS = 7 };

static int smaller_first(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the index of the first report that is about a later frame. */
static size_t report_after(const struct heard_report *report, size_t count, double frame)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (report[middle].frame > frame)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Returns when the frame was heard, according to the reports around it. */
static int64_t time_of(const struct heard_report *report, size_t count, double frame, int rate)
{
    const size_t after = report_after(report, count, frame);
    size_t begin = after > REPORTS / 2 ? after - REPORTS / 2 : 0;
    const size_t end = begin + REPORTS < count ? begin + REPORTS : count;
    begin = end > REPORTS ? end - REPORTS : 0;
    double times_ns[REPORTS]; /* relative to base_ns, so that a double holds them exactly enough */
    const int64_t base_ns = report[begin].time_ns;
    for (size_t i = begin; i < end; i++)
        times_ns[i - begin] = (double)(report[i].time_ns - base_ns) + (frame - report[i].frame) / rate * (double)NS_PER_S;
    qsort(times_ns, end - begin, sizeof *times_ns, smaller_first);
    return base_ns + (int64_t)times_ns[(end - begin) / 2];
}

/* Returns the quarter with this tone that is nearest to the expected one. */
static int64_t quarter_near(int tone, double expected)
{
    const int64_t quarter = tone + BURST_TONES * (int64_t)llround((expected - tone) / BURST_TONES);
    return quarter < 0 ? tone : quarter;
}

static void add(struct heard_clock *clock, int tone, int64_t time_ns, int64_t start_ns, int64_t first_ns)
{
    const struct heard_tone *const before = clock->count ? &clock->tone[clock->count - 1] : NULL;
    const int64_t expected_ns =
        before ? before->position_ns + (time_ns - before->time_ns) - start_ns : first_ns - start_ns;
    const double expected = (double)(expected_ns - burst_offset_ns) / (double)burst_period_ns;
    const int64_t quarter = quarter_near(tone, expected);
    const int64_t position_ns = start_ns + quarter * burst_period_ns + burst_offset_ns;
    if (before && llabs((position_ns - before->position_ns) - (time_ns - before->time_ns)) > break_ns)
        clock->breaks++;
    clock->tone[clock->count++] =
        (struct heard_tone){.time_ns = time_ns, .quarter = quarter, .position_ns = position_ns};
}

int heard_clock_make(struct heard_clock *clock, const struct burst *burst, size_t burst_count,
                     const struct heard_report *report, size_t report_count, int rate, int64_t start_ns,
                     int64_t first_ns)
{
    *clock = (struct heard_clock){.tone = calloc(burst_count + 1, sizeof *clock->tone)};
    if (!clock->tone)
        return -ENOMEM;
    for (size_t i = 0; i < burst_count && report_count; i++) {
        const int64_t time_ns = time_of(report, report_count, burst[i].begin_frame, rate);
        if (!clock->count || time_ns > clock->tone[clock->count - 1].time_ns)
            add(clock, burst[i].tone, time_ns, start_ns, first_ns);
    }
    return 0;
}

void heard_clock_finish(struct heard_clock *clock)
{
    free(clock->tone);
    *clock = (struct heard_clock){0};
}

int64_t heard_clock_position_ns(const struct heard_clock *clock, int64_t time_ns)
{
    if (!clock->count)
        return FIELD_EMPTY;
    int64_t after = 0;
    while (after < clock->count && clock->tone[after].time_ns <= time_ns)
        after++;
    if (after == 0 || after == clock->count) {
        const struct heard_tone *const end = &clock->tone[after ? after - 1 : 0];
        return end->position_ns + (time_ns - end->time_ns);
    }
    const struct heard_tone *const from = &clock->tone[after - 1], *const to = &clock->tone[after];
    const double part = (double)(time_ns - from->time_ns) / (double)(to->time_ns - from->time_ns);
    return from->position_ns + (int64_t)(part * (double)(to->position_ns - from->position_ns));
}
