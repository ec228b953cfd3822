/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints the report of dlex-bench-libdlex, and writes it with all rounds as JSON. */
#ifndef FIGURE_REPORT_H
#define FIGURE_REPORT_H

#include <stdbool.h>

#include "figure.h"
#include "host.h"

struct figure_report {
    const struct figures *figures;
    const struct host *host;
    bool quick;
    size_t rounds;
};

/* Prints to stdout. The last line says how many goals hold. */
void figure_report_print(const struct figure_report *report);

/* Writes the file whole or not at all. Returns 0 or a negative errno. */
int figure_report_write_json(const struct figure_report *report, const char *path);

#endif
