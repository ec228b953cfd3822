/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record_faults.h"

#include "ns.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

/* No machine runs so long, and no picture waits so long. Times of the stream come from its file and have no limit. */
static const int64_t CENTURY_NS = INT64_C(100) * 365 * 24 * 3600 * NS_PER_S;

static bool is_empty_or_within(int64_t value, int64_t least, int64_t most)
{
    return value == FIELD_EMPTY || (value >= least && value <= most);
}

static bool are_clock_times(const struct frame_record *row)
{
    const int64_t times_ns[] = {row->decode_start_ns, row->decode_end_ns, row->decode_cpu_ns, row->shown_ns,
                                row->stood_ns};
    for (size_t i = 0; i < sizeof times_ns / sizeof *times_ns; i++)
        if (!is_empty_or_within(times_ns[i], 0, CENTURY_NS))
            return false;
    return true;
}

static bool ends_before_start(const struct frame_record *row)
{
    return row->decode_start_ns != FIELD_EMPTY && row->decode_end_ns != FIELD_EMPTY &&
           row->decode_end_ns < row->decode_start_ns;
}

const char *record_row_fault(const struct frame_record *row, int64_t place)
{
    if (row->index != place)
        return "the index does not continue that of the line before, from 0 on";
    if (row->verdict != VERDICT_NONE && row->pts_ns == FIELD_EMPTY)
        return "a picture that was played has no pts_ns";
    if (row->verdict == VERDICT_SHOWN && row->shown_ns == FIELD_EMPTY)
        return "a picture that was shown has no shown_ns";
    if (!is_empty_or_within(row->degraded, DEGRADED_NOT, DEGRADED_BY_OTHERS))
        return "degraded is not 0, 1 or 2";
    if (!is_empty_or_within(row->droppable, 0, 1))
        return "droppable is not 0 or 1";
    if (!is_empty_or_within(row->size_bytes, 0, INT64_MAX))
        return "size_bytes is below 0";
    if (!are_clock_times(row) || !is_empty_or_within(row->skew_ns, -CENTURY_NS, CENTURY_NS))
        return "a time is below 0 or longer than a century";
    if (ends_before_start(row))
        return "the decode ends before it starts";
    return NULL;
}

static int64_t count_of(const struct frame_record *rows, int64_t count, enum verdict verdict)
{
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++)
        found += rows[i].verdict == verdict;
    return found;
}

/*
 * A total that run.json does not have is no fault: dlex-play does not count unseen pictures, and the observer counts no other dropped
 * ones. A fault in such rows shows in the total of all dropped pictures.
 */
static int compare_total(const json_t *totals, const char *name, int64_t found, char *why, size_t why_size)
{
    const json_t *const total = json_object_get(totals, name);
    if (!total || (json_is_integer(total) && json_integer_value(total) == found))
        return 0;
    if (json_is_integer(total))
        snprintf(why, why_size, "the number of pictures that were %s is %" JSON_INTEGER_FORMAT " in run.json, but %" PRId64
                 " in frames.csv", name, json_integer_value(total), found);
    else
        snprintf(why, why_size, "\"%s\" in the totals of run.json is not a whole number", name);
    return -EINVAL;
}

int record_totals_fault(const json_t *totals, const struct frame_record *rows, int64_t count, char *why, size_t why_size)
{
    if (!json_object_get(totals, "shown") || !json_object_get(totals, "dropped")) {
        snprintf(why, why_size, "run.json does not have the totals of shown and dropped pictures");
        return -EINVAL;
    }
    int64_t dropped = 0;
    int ret = 0;
    for (enum verdict verdict = VERDICT_SHOWN; verdict <= VERDICT_UNSEEN && !ret; verdict++) {
        const int64_t found = count_of(rows, count, verdict);
        dropped += verdict == VERDICT_SHOWN ? 0 : found;
        ret = compare_total(totals, verdict_name(verdict), found, why, why_size);
    }
    return ret ? ret : compare_total(totals, "dropped", dropped, why, why_size);
}
