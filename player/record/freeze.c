/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "freeze.h"

#include "ns.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/*
 * A longer step from one dropped picture to the next is a jump of the time stamps, as in decide/pace.h, which is not seen here.
 */
static const int64_t JUMP_NS = 10 * NS_PER_S;

/*
 * For rows of an old record. The clock stands in a pause and moves at a seek, so the less of real time and media time counts. That
 * misses freezes in which the clock stood too, as when the sound stopped with the player.
 */
static int64_t guess_stood_ns(const struct frame_record *a, const struct frame_record *b)
{
    const int64_t real_ns = b->shown_ns - a->shown_ns;
    if (a->skew_ns == FIELD_EMPTY || b->skew_ns == FIELD_EMPTY)
        return real_ns;
    const int64_t media_ns = (b->pts_ns + b->skew_ns) - (a->pts_ns + a->skew_ns);
    return media_ns < real_ns ? media_ns : real_ns;
}

int64_t freeze_stood_ns(const struct frame_record *row, const struct frame_record *next)
{
    if (row->stood_ns != FIELD_EMPTY)
        return row->stood_ns;
    return next ? guess_stood_ns(row, next) : 0;
}

static bool was_shown(const struct frame_record *row)
{
    return row->verdict == VERDICT_SHOWN && row->shown_ns != FIELD_EMPTY;
}

/* Returns how long the last shown row stands until the last row is due. Those after it were dropped, or do not count. */
static int64_t until_end_ns(const struct frame_record *rows, int64_t count)
{
    int64_t standing_ns = 0;
    const struct frame_record *next = NULL;
    for (int64_t i = count - 1; i >= 0; i--) {
        const struct frame_record *const row = &rows[i];
        if (row->verdict == VERDICT_NONE)
            continue;
        const int64_t step_ns = next ? next->pts_ns - row->pts_ns : 0;
        standing_ns += step_ns >= 0 && step_ns <= JUMP_NS ? step_ns : 0;
        if (was_shown(row))
            return standing_ns - (row->skew_ns == FIELD_EMPTY ? 0 : row->skew_ns);
        next = row;
    }
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct frame_record *const *const one = a, *const *const other = b;
    return ((*one)->shown_ns > (*other)->shown_ns) - ((*one)->shown_ns < (*other)->shown_ns);
}

const struct frame_record **freeze_shown_rows(const struct frame_record *rows, int64_t count, int64_t *shown_count)
{
    const struct frame_record **const shown = calloc((size_t)count + 1, sizeof *shown);
    *shown_count = 0;
    for (int64_t i = 0; shown && i < count; i++)
        if (was_shown(&rows[i]))
            shown[(*shown_count)++] = &rows[i];
    /* Where time stamps go back a little, the rows are not in the order in which they were shown. */
    if (shown)
        qsort(shown, (size_t)*shown_count, sizeof *shown, by_time);
    return shown;
}

int freeze_note_stood(struct frame_record *rows, int64_t count)
{
    int64_t shown_count;
    const struct frame_record **const shown = freeze_shown_rows(rows, count, &shown_count);
    for (int64_t i = 0; shown && i < shown_count; i++)
        rows[shown[i] - rows].stood_ns = i + 1 < shown_count ? shown[i + 1]->shown_ns - shown[i]->shown_ns : 0;
    free(shown);
    return shown ? 0 : -ENOMEM;
}

int64_t freeze_longest_ns(const struct frame_record *rows, int64_t count)
{
    int64_t shown_count;
    const struct frame_record **const shown = freeze_shown_rows(rows, count, &shown_count);
    if (shown_count == 0) {
        free(shown);
        return FIELD_EMPTY;
    }
    int64_t longest_ns = until_end_ns(rows, count);
    for (int64_t i = 0; i < shown_count; i++) {
        const int64_t time_ns = freeze_stood_ns(shown[i], i + 1 < shown_count ? shown[i + 1] : NULL);
        longest_ns = time_ns > longest_ns ? time_ns : longest_ns;
    }
    free(shown);
    return longest_ns > 0 ? longest_ns : 0;
}
