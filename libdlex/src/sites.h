/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sites.h: the call sites that measure (dlex/benchmark.h), between measuring and reporting. block.c and
 * measure.c fill them, report.c reads them. All functions are lock-free, for any thread. */
#ifndef DLEX_SITES_H
#define DLEX_SITES_H

#include <stdbool.h>

#include <dlex/benchmark.h>

#include "histogram.h"

/* The contents of struct dlex_samples_. Zero is the empty state. */
struct samples {
    uint64_t entered;
    uint64_t left;                 /* by an exception */
    uint64_t missed;               /* the constraint, of those that ended */
    uint64_t most_ns, not_least_ns; /* constraints given, as in struct histogram; both 0: none */
    struct histogram wall, cpu;    /* of the bodies that ended */
};

_Static_assert(sizeof(struct samples) == sizeof(struct dlex_samples_),
               "applications allocate the samples");

/* A body is entered, with a constraint of given_ns (INT64_MAX: none); a site that was never entered
 * before joins the list. Call it in a protected section. */
void dlex_site_enter(struct dlex_measure_ *site, int64_t given_ns);
/* A body was left by an exception, or it ended. */
void dlex_site_left(const struct dlex_measure_ *site);
void dlex_site_ended(const struct dlex_measure_ *site, bool missed, int64_t wall_ns, int64_t cpu_ns);

/* Returns the process that entered a call site first, which its forked children are not; 0: none did. */
int dlex_sites_process(void);

/* The sum of all sites that have the same file, line, function and kind. */
struct site_total {
    const struct dlex_measure_ *site; /* one of them; NULL before the first */
    struct samples samples;
};

/* Goes on to the next total in the order of the report. Returns false after the last. */
bool dlex_sites_next(struct site_total *total);

#endif
