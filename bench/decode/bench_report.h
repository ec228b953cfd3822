/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints the report of dlex-bench-decode, and writes it with all samples as JSON. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "gate_overhead.h"
#include "latency_cases.h"

struct bench_report {
    const char *clip;
    const struct gate_overhead *overhead; /* NULL: not measured */
    const struct latency_cases *cases;
};

/* Prints to stdout. */
void report_print(const struct bench_report *report);

/* Writes the file whole or not at all. Returns 0 or a negative errno. */
int report_write_json(const struct bench_report *report, const char *path);

#endif
