/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* report.h: what measuring tells of call sites, as text and JSON, on demand and at exit. */
#ifndef DLEX_REPORT_H
#define DLEX_REPORT_H

#include <stdio.h>

#include "sites.h"

/* What heads the report. */
struct report {
    FILE *out;
    double miss_ratio;
    uint64_t needed; /* samples without which no limit can be proposed for it */
    struct site_cost cost;
};

/* The limit that a distribution proposes; 0: samples are too few. */
int64_t dlex_report_limit(const struct report *r, const struct histogram *copy);
/* "rel", "wcet_cooperative": what follows dlex_try_within_. */
const char *dlex_report_kind(int how);
/* Bodies that were entered and have neither ended nor been left by an exception. */
uint64_t dlex_report_open(const struct samples *copy, uint64_t ended);

/* report_text.c, report_json.c: head, one call for each site, tail. */
void dlex_text_head(const struct report *r);
void dlex_text_site(const struct report *r, const struct site_total *total);
void dlex_json_head(const struct report *r);
void dlex_json_site(const struct report *r, const struct site_total *total, bool first);
void dlex_json_tail(const struct report *r);

/* report_exit.c: from now on this process writes a report when it ends. */
void dlex_report_at_exit(void);

#endif
