/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "loss_history.h"

#include "pace.h"

#include <string.h>

void loss_history_clear(struct loss_history *history)
{
    history->count = 0;
}

/* Where time stamps went back a little, this is not the one that is due first. */
static void forget_oldest(struct loss_history *history)
{
    struct past_picture *const pictures = history->pictures;
    int oldest = 0;
    for (int i = 1; i < history->count; i++)
        if (pictures[i].number < pictures[oldest].number)
            oldest = i;
    history->count--;
    memmove(&pictures[oldest], &pictures[oldest + 1], (size_t)(history->count - oldest) * sizeof *pictures);
}

static bool is_behind_a_jump(const struct loss_history *history, int64_t due_ns)
{
    const int64_t step_ns = history->count > 0 ? due_ns - history->pictures[history->count - 1].due_ns : 0;
    return step_ns > TIME_STAMP_JUMP_NS || step_ns < -TIME_STAMP_JUMP_NS;
}

void loss_history_add(struct loss_history *history, const struct past_picture *picture)
{
    if (is_behind_a_jump(history, picture->due_ns))
        loss_history_clear(history);
    if (history->count == LOSS_HISTORY_MAX)
        forget_oldest(history);
    int place = history->count++;
    for (; place > 0 && history->pictures[place - 1].due_ns > picture->due_ns; place--)
        history->pictures[place] = history->pictures[place - 1];
    history->pictures[place] = *picture;
}

void loss_history_lose(struct loss_history *history, int64_t number)
{
    for (int i = 0; i < history->count; i++)
        if (history->pictures[i].number == number)
            history->pictures[i].lost = true;
}
