/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "window_count.h"

void window_count_look(struct window_count *count, const struct dwcs_counts *now, const struct dwcs_params *params)
{
    const int64_t misses = now->missed - count->before.missed;
    const int64_t periods = misses + now->served - count->before.served;
    count->before = *now;
    if (!params->y)
        return;
    for (int64_t i = 0; i < periods; i++) {
        count->periods++;
        count->misses += i < misses;
        if (count->periods < params->y)
            continue;
        if (count->misses > params->x)
            count->lost++;
        else
            count->kept++;
        count->periods = count->misses = 0;
    }
}
