/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes what dlex-qoe reports: a table for people, JSON for programs, a CSV row for each drop. */
#ifndef QOE_REPORT_H
#define QOE_REPORT_H

#include "drops.h"
#include "loss_windows.h"
#include "quality.h"
#include "recorded_run.h"
#include "rgb_converter.h"

#include <stdbool.h>
#include <stdio.h>

/* All members belong to the caller. */
struct report {
    const char *dir;
    const char *media_path;
    bool unstamped; /* media_path is not what was played, but the same film without stamps */
    const struct recorded_run *run;
    const struct drop *drops;
    int64_t drop_count;
    const struct quality *quality;
    const struct loss_windows *windows;
    const struct rgb_converter *converter; /* all zeros when nothing was compared */
};

/*
 * Each function writes all output of its kind. Returns 0, -ENOMEM, or -EIO when the stream has an
 * error.
 */
int report_write_text(FILE *out, const struct report *report);
int report_write_json(FILE *out, const struct report *report);
int report_write_csv(FILE *out, const struct report *report);

#endif
