/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* report.h: reports what was measured at call sites, as text and JSON, on demand and at exit. */
#ifndef DLEX_REPORT_H
#define DLEX_REPORT_H

#include <stdio.h>

#include "measure.h"

/* The figures at the head of the report. */
struct report {
    FILE *out;
    double miss_ratio;
    uint64_t needed; /* samples needed to propose a limit for it */
    struct measure_cost cost;
};

/* report_figures.c, for the files that write. Returns the limit that a distribution proposes; 0: there are too few samples. */
int64_t dlex_report_limit(const struct report *r, const struct histogram *copy);
/* Returns what follows dlex_try_within_, such as "rel" or "wcet_cooperative". */
const char *dlex_report_kind(int how);
/* Returns the number of bodies that were entered and have neither ended nor been left by an exception. */
uint64_t dlex_report_open(const struct samples *copy, uint64_t ended);

/* report_text.c, report_json.c: head, one call for each site, tail. */
void dlex_text_head(const struct report *r);
void dlex_text_site(const struct report *r, const struct site_total *total);
void dlex_json_head(const struct report *r);
void dlex_json_site(const struct report *r, const struct site_total *total, bool first);
void dlex_json_tail(const struct report *r);

/* report_exit.c: writes the report of a process that ends, as DLEX_BENCHMARK says. */
void dlex_report_at_exit(void);

#endif
