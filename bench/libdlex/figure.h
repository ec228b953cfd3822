/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A figure of the benchmark: an operation of libdlex measured against its raw mechanism, and its
 * goal.
 */
#ifndef FIGURE_H
#define FIGURE_H

#include <stdbool.h>
#include <stddef.h>

#include "sample_stats.h"

enum { FIGURES_MOST = 16, ROUNDS_MOST = STATS_MOST_SAMPLES };

enum figure_kind {
    FIGURE_RATIO,      /* ours / raw */
    FIGURE_DIFFERENCE, /* ours - raw, ns */
    FIGURE_COUNT,      /* of events that must not happen, in `tries` */
};

struct figure {
    const char *what;
    const char *against; /* the raw mechanism */
    enum figure_kind kind;
    const char *goal_text;
    double goal; /* the interval's upper end, or the count, must not be above it */

    /* Results. */
    double ours_ns, raw_ns; /* medians of the rounds */
    struct stats_interval value;
    size_t tries;
    double *rounds; /* ratio or difference of each round; owned */
    size_t round_count;
    const char *failure; /* why it could not be measured; NULL: it was measured */
};

struct figures {
    struct figure list[FIGURES_MOST];
    size_t count;
};

/*
 * Appends the figure with the medians and the interval of these rounds. The caller keeps the
 * arrays. Aborts when out of memory.
 */
void figures_add(struct figures *figures, struct figure figure, const double *ours_ns,
                 const double *raw_ns, size_t round_count);

/* Append a count, or a figure that could not be measured. */
void figures_add_count(struct figures *figures, struct figure figure, size_t count, size_t tries);
void figures_add_failure(struct figures *figures, struct figure figure, const char *why);

bool figure_holds(const struct figure *figure);

void figures_finish(struct figures *figures);

#endif
