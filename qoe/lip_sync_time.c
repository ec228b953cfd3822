/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lip_sync_time.h"

#include "freeze.h"
#include "lip_sync.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Adds the time of each picture to its grades. Returns the sum. */
static double add_up(struct lip_sync_time *time, const struct frame_record **shown, int64_t count)
{
    double sum_ns = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t standing_ns = freeze_stood_ns(shown[i], i + 1 < count ? shown[i + 1] : NULL);
        if (shown[i]->skew_ns == FIELD_EMPTY || standing_ns <= 0)
            continue;
        time->part[lip_sync_grade(shown[i]->skew_ns)] += (double)standing_ns;
        time->itu_part[lip_sync_itu_grade(shown[i]->skew_ns)] += (double)standing_ns;
        sum_ns += (double)standing_ns;
    }
    return sum_ns;
}

int lip_sync_time_of(struct lip_sync_time *time, const struct frame_record *rows, int64_t count)
{
    int64_t shown_count;
    const struct frame_record **const shown = freeze_shown_rows(rows, count, &shown_count);
    *time = (struct lip_sync_time){.part = {0}};
    if (!shown)
        return -ENOMEM;
    const double sum_ns = add_up(time, shown, shown_count);
    free(shown);
    for (int grade = 0; grade < LIP_SYNC_GRADES; grade++) {
        time->part[grade] = sum_ns > 0 ? time->part[grade] / sum_ns : NAN;
        time->itu_part[grade] = sum_ns > 0 ? time->itu_part[grade] / sum_ns : NAN;
    }
    return 0;
}

bool lip_sync_time_is_known(const struct lip_sync_time *time)
{
    return !isnan(time->part[0]);
}
