/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which windows of y periods a process has been served in often enough, one after the other. Pure. */
#ifndef SCHED_WINDOW_COUNT_H
#define SCHED_WINDOW_COUNT_H

#include "dwcs.h"

/* Begins as zero. */
struct window_count {
    struct dwcs_counts before; /* at the last look */
    int periods, misses;       /* of the window that is not over */
    int64_t kept, lost;
};

/*
 * Takes over the periods that have ended since the last look; look after each period. If several have ended, it is not known
 * which of them were missed; the first ones are taken for these.
 */
void window_count_look(struct window_count *count, const struct dwcs_counts *now, const struct dwcs_params *params);

#endif
