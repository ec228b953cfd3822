/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "loss_windows.h"

void loss_windows_begin(struct loss_windows *windows, const struct window *window)
{
    *windows = (struct loss_windows){.window = *window};
}

void loss_windows_add(struct loss_windows *windows, bool is_lost)
{
    const struct window *const window = &windows->window;
    if (window->y == 0)
        return;
    const int64_t place = windows->pictures++ % window->y;
    if (place == 0)
        windows->lost_aligned = 0;
    windows->lost_aligned += is_lost;
    windows->lost_sliding += is_lost - windows->lost[place]; /* in place of the picture y before it */
    windows->lost[place] = is_lost;
    windows->violations_sliding += is_lost && windows->lost_sliding > window->x;
    windows->violations_aligned += is_lost && windows->lost_aligned > window->x;
}

struct loss_windows loss_windows_of(const struct window *window, const struct frame_record *rows, int64_t count)
{
    struct loss_windows windows;
    loss_windows_begin(&windows, window);
    for (int64_t i = 0; i < count; i++)
        if (rows[i].verdict != VERDICT_NONE)
            loss_windows_add(&windows, rows[i].verdict != VERDICT_SHOWN);
    return windows;
}
