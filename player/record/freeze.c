/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "freeze.h"

#include <stdbool.h>
#include <stddef.h>

/* The clock stands in a pause and moves at a seek, so the less of real time and media time is right. */
static int64_t between_ns(const struct frame_record *a, const struct frame_record *b)
{
    const int64_t real_ns = b->shown_ns - a->shown_ns;
    if (a->skew_ns == FIELD_EMPTY || b->skew_ns == FIELD_EMPTY)
        return real_ns;
    const int64_t media_ns = (b->pts_ns + b->skew_ns) - (a->pts_ns + a->skew_ns);
    return media_ns < real_ns ? media_ns : real_ns;
}

static int64_t until_due_ns(const struct frame_record *shown, const struct frame_record *dropped)
{
    const int64_t skew_ns = shown->skew_ns == FIELD_EMPTY ? 0 : shown->skew_ns;
    return dropped->pts_ns - shown->pts_ns - skew_ns;
}

static bool was_shown(const struct frame_record *row)
{
    return row->verdict == VERDICT_SHOWN && row->shown_ns != FIELD_EMPTY;
}

int64_t freeze_longest_ns(const struct frame_record *rows, int64_t count)
{
    const struct frame_record *shown = NULL;
    const struct frame_record *last = NULL;
    int64_t longest_ns = FIELD_EMPTY;
    for (int64_t i = 0; i < count; i++) {
        if (rows[i].verdict == VERDICT_NONE)
            continue;
        last = &rows[i];
        if (!was_shown(last))
            continue;
        const int64_t time_ns = shown ? between_ns(shown, last) : 0;
        longest_ns = time_ns > longest_ns ? time_ns : longest_ns;
        shown = last;
    }
    if (!shown)
        return FIELD_EMPTY;
    const int64_t end_ns = until_due_ns(shown, last);
    return end_ns > longest_ns ? end_ns : longest_ns;
}
