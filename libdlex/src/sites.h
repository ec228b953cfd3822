/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sites.h: the call sites that measure (dlex/benchmark.h), between measuring and reporting. */
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

/* The sum of all sites that have the same file, line, function and kind. */
struct site_total {
    const struct dlex_measure_ *site; /* one of them; NULL before the first */
    struct samples samples;
};

/* Goes on to the next total in the order of the report. Returns false after the last. Any thread. */
bool dlex_sites_next(struct site_total *total);

/* The cost that measuring adds to a body and to its program. */
struct site_cost {
    int64_t wall_ns, cpu_ns; /* what an empty body measures (median) */
    int64_t program_ns;      /* what an empty measured block takes (mean) */
};
struct site_cost dlex_site_cost(void);

#endif
