/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The status line: AV: 00:00:05 / 00:00:32 (15%) A-V: 0.003 Dropped: 2 aborted / 1 late / 0 skipped
 *
 * Where the terminal is too narrow for that, the line says less: see status_format.
 */
#ifndef PLAYER_STATUS_H
#define PLAYER_STATUS_H

#include "frame_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct status {
    bool has_audio;
    bool has_video;
    bool paused;
    int64_t position_ns; /* from the beginning of the file */
    int64_t duration_ns; /* 0: unknown */
    int64_t skew_ns;     /* skew of the last picture that was shown; FIELD_EMPTY: none yet */
    struct totals totals;
};

enum {
    STATUS_SIZE = 256, /* room for every line */
    STATUS_COLUMNS_MIN = 20, /* a terminal of this width shows the position, and a pause */
};

/*
 * Writes the line for a terminal with this many columns into text, and returns text. The line never reaches the last column, so
 * that the terminal does not wrap it. What does not fit is left out in this order: the percentage; the reasons for which pictures
 * were dropped (their sum stays); the length of the file; A-V; the number of dropped pictures; the kinds of streams. "(Paused)"
 * and the position always stay. Where not even these fit (below STATUS_COLUMNS_MIN, or after 999 hours), the line is cut. A text
 * of `size` bytes counts as a terminal with at most that many columns.
 */
const char *status_format(const struct status *status, int columns, char *text, size_t size);

#endif
