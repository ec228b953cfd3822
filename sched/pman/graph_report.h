/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What dlex-sched-pman prints and writes. */
#ifndef SCHED_GRAPH_REPORT_H
#define SCHED_GRAPH_REPORT_H

#include "line_writer.h"
#include "pman_shared.h"

#include <stdio.h>

struct graph_report {
    struct pman_shared *shared;
    FILE *log;                     /* NULL: none */
    struct pman_log_reader reader;
    int64_t begun_ns;
    struct line_writer output;
};

/* path: of the log, which begins with the next record; NULL: none. Returns 0 or a negative errno. */
int graph_report_begin(struct graph_report *report, struct pman_shared *shared, const char *path);

/* Writes what has happened since the last call. Call it several times a second. */
void graph_report_follow(struct graph_report *report);

/*
 * Prints the table as a line of JSON to standard output, as far as its reader reads. is_last: this line is not left out. Returns 0 or
 * a negative errno.
 */
int graph_report_print(struct graph_report *report, bool is_last);

/* Closes the log. Returns 0, or a negative errno if it could not be written. */
int graph_report_close_log(struct graph_report *report);

/* Waits until the reader has read, or until the file `stop` can be read. Returns 0 or a negative errno. */
int graph_report_end(struct graph_report *report, int stop);

#endif
