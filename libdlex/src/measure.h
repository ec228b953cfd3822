/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* measure.h: blocks that measure, for the macros and for the report, which states their cost. */
#ifndef DLEX_MEASURE_H
#define DLEX_MEASURE_H

#include "sites.h"

/* Opens the block, and counts it as entered at its site. Returns 1. */
int dlex_measure_begin(struct dlex_block_ *block, int64_t ns);

/* The cost that measuring adds to a body and to its program. */
struct measure_cost {
    int64_t wall_ns, cpu_ns; /* what an empty body measures (median) */
    int64_t program_ns;      /* what an empty measured block takes (mean) */
};
struct measure_cost dlex_measure_cost(void);

#endif
