/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The status line: AV: 00:00:05 / 00:00:32 (15%) A-V: 0.003 Dropped: 2 aborted / 1 late / 0 skipped */
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

/* Writes the line into text and returns text. */
const char *status_format(const struct status *status, char *text, size_t size);

#endif
