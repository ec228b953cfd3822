/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan_windows.h"

#include <string.h>

/* Puts the packets in presentation order. B pictures step back by a few places only. */
static void sort_packets(int *order, const struct upcoming *ahead, int count)
{
    for (int i = 0; i < count; i++) {
        int at = i;
        for (; at > 0 && ahead[order[at - 1]].due_ns > ahead[i].due_ns; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

static void remember_loss(struct plan_windows *windows, int place)
{
    const int x = windows->window.x;
    if (x == 0)
        return;
    memmove(&windows->lost_before[1], &windows->lost_before[0], (size_t)(x - 1) * sizeof windows->lost_before[0]);
    windows->lost_before[0] = (int16_t)place;
}

/* Gives places to the pictures of the past from the next one on, up to those that are due then. Returns the next one. */
static int place_past(struct plan_windows *windows, const struct loss_history *past, int next, int64_t until_ns)
{
    for (; past && next < past->count && past->pictures[next].due_ns <= until_ns; next++) {
        const int place = windows->count++;
        if (past->pictures[next].lost)
            remember_loss(windows, place);
    }
    return next;
}

static int earlier(int a, int b)
{
    return a < b ? a : b;
}

/* A window that begins later would end behind the last place: the last one that does not has all of its pictures. */
static int last_window(const struct plan_windows *windows)
{
    return windows->count > windows->window.y ? windows->count - windows->window.y : 0;
}

void plan_windows_init(struct plan_windows *windows, const struct window *window, const struct loss_history *past,
                       const struct upcoming *ahead, int count)
{
    int order[PLAN_HORIZON_MAX];
    *windows = (struct plan_windows){.window = *window};
    for (int i = 0; i < window->x; i++)
        windows->lost_before[i] = PLACE_FAR_BEFORE;
    sort_packets(order, ahead, count);
    int next = 0;
    for (int i = 0; i < count; i++) {
        next = place_past(windows, past, next, ahead[order[i]].due_ns);
        windows->place_of[order[i]] = (int16_t)windows->count++;
    }
    place_past(windows, past, next, INT64_MAX);
    for (int i = 0; i < window->x; i++)
        if (windows->lost_before[i] != PLACE_FAR_BEFORE)
            plan_windows_lose(windows, windows->lost_before[i]);
}

bool plan_windows_forbid(const struct plan_windows *windows, int place)
{
    return windows->window.x == 0 || windows->full_with[place] > 0;
}

void plan_windows_lose(struct plan_windows *windows, int place)
{
    const struct window *const window = &windows->window;
    const int first = place >= window->y ? place - window->y + 1 : 0;
    for (int begin = first; begin <= earlier(place, last_window(windows)); begin++) {
        if (++windows->lost_from[begin] != window->x)
            continue;
        for (int in = begin; in < earlier(begin + window->y, windows->count); in++)
            windows->full_with[in]++;
    }
}
