/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report of dlex-bench-gates: a table for people, and JSON. */
#ifndef GATES_REPORT_H
#define GATES_REPORT_H

#include "gate_storm.h"

enum { REPORT_CELLS_MAX = 64 };

/* The storms of one codec in one mode, all its clips together. */
struct gates_cell {
    const char *codec;
    struct decode_mode mode; /* all numbers of threads together, under the first */
    int clips;
    int64_t interrupted;
    int64_t refused;
    int64_t compared;
    struct differences differences;
};

struct gates_report {
    uint64_t seed;
    int64_t wanted; /* how many pictures of each codec are to be given up, at least */
    int cell_count;
    struct gates_cell cells[REPORT_CELLS_MAX];
};

/* Adds a storm to the cell of its codec and mode. Prints a line about its first difference, if there is one. */
void report_add(struct gates_report *report, const char *codec, const char *clip, const struct gate_storm *storm);

void report_print(const struct gates_report *report);

/* Writes it all to the file. Returns 0 or a negative errno. */
int report_write_json(const struct gates_report *report, const char *path);

int64_t report_faults(const struct gates_report *report);

/* Returns how many of the codecs that were tried have too few given up, for example because a clip cannot be made here. */
int report_shortfalls(const struct gates_report *report);

#endif
