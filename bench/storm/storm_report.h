/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* storm_report.h: reports the result of the storm, for people and for programs. */
#ifndef STORM_REPORT_H
#define STORM_REPORT_H

#include <stdint.h>

#include "storm_run.h"

enum { STORM_RUNS_MAX = 16 };

struct storm_report {
    uint32_t seed;
    int runs;
    struct storm_result results[STORM_RUNS_MAX];
    int locks_held; /* still held at the end, although no thread is left */
};

/* Returns the faults of all kinds together; 0 means that the storm did no harm. */
uint64_t storm_report_faults(const struct storm_report *report);
void storm_report_print(const struct storm_report *report);
/* Returns 0, or a negative errno value. */
int storm_report_write_json(const struct storm_report *report, const char *path);

#endif
