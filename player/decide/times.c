/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "times.h"

#include <string.h>

static void remove_place(struct times *times, int place)
{
    times->count--;
    memmove(&times->at_ns[place], &times->at_ns[place + 1], (size_t)(times->count - place) * sizeof times->at_ns[0]);
}

void times_insert(struct times *times, int64_t at_ns)
{
    if (times->count == TIMES_MAX)
        remove_place(times, 0);
    int place = times->count;
    for (; place > 0 && times->at_ns[place - 1] > at_ns; place--)
        times->at_ns[place] = times->at_ns[place - 1];
    times->at_ns[place] = at_ns;
    times->count++;
}

void times_remove(struct times *times, int64_t at_ns)
{
    int place = times->count - 1;
    while (place >= 0 && times->at_ns[place] > at_ns)
        place--;
    if (place >= 0 && times->at_ns[place] == at_ns)
        remove_place(times, place);
}

int64_t times_take_first(struct times *times)
{
    const int64_t first_ns = times->at_ns[0];
    remove_place(times, 0);
    return first_ns;
}
