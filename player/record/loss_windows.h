/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which lost pictures broke the window (window.h) that was asked for. Pure.
 *
 * A violation is a lost picture, as in DWCS. It is counted in two ways. In sliding windows, a lost picture is a violation if
 * more than x of the y pictures up to it were lost. In aligned windows of y pictures, which follow each other from the first
 * picture as those of DWCS do, it is one if more than x of its window's pictures up to it were lost. What is a violation in
 * aligned windows is one in sliding windows too.
 *
 * Pictures are those of the part that was played, in presentation order. A seek begins no new window.
 */
#ifndef PLAYER_LOSS_WINDOWS_H
#define PLAYER_LOSS_WINDOWS_H

#include "frame_record.h"
#include "window.h"

#include <stdbool.h>
#include <stdint.h>

struct loss_windows {
    struct window window;       /* y 0: none was asked for; nothing is counted */
    int64_t pictures;           /* so far */
    int64_t violations_sliding;
    int64_t violations_aligned;
    bool lost[WINDOW_MAX];      /* the last y pictures; the n-th one is at n modulo y */
    int lost_sliding;           /* in the last y pictures */
    int lost_aligned;           /* in the aligned window that has not ended */
};

void loss_windows_begin(struct loss_windows *windows, const struct window *window);

/* The next picture was lost, or shown. */
void loss_windows_add(struct loss_windows *windows, bool is_lost);

/* Counts all rows, which are in presentation order. Rows with the verdict none are not pictures of the played part. */
struct loss_windows loss_windows_of(const struct window *window, const struct frame_record *rows, int64_t count);

#endif
