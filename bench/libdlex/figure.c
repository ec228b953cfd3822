/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "figure.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BOOTSTRAP_SEED = 1 };

static double *copy(const double *values, size_t count)
{
    double *copied = malloc(count * sizeof(*copied));
    if (!copied)
        abort();
    memcpy(copied, values, count * sizeof(*copied));
    return copied;
}

static double median(const double *values, size_t count)
{
    double *sorted = copy(values, count);
    stats_sort(sorted, count);
    const double middle = stats_quantile(sorted, count, 0.5);
    free(sorted);
    return middle;
}

static struct figure *append(struct figures *figures, struct figure figure)
{
    assert(figures->count < FIGURES_MOST);
    struct figure *added = &figures->list[figures->count++];
    *added = figure;
    return added;
}

void figures_add(struct figures *figures, struct figure figure, const double *ours_ns,
                 const double *raw_ns, size_t round_count)
{
    figure.round_count = round_count;
    figure.rounds = copy(ours_ns, round_count);
    for (size_t i = 0; i < round_count; i++)
        figure.rounds[i] = figure.kind == FIGURE_RATIO ? ours_ns[i] / raw_ns[i]
                                                       : ours_ns[i] - raw_ns[i];
    figure.ours_ns = median(ours_ns, round_count);
    figure.raw_ns = median(raw_ns, round_count);
    double *sorted = copy(figure.rounds, round_count);
    figure.value = stats_bootstrap_median(sorted, round_count, BOOTSTRAP_SEED);
    free(sorted);
    append(figures, figure);
}

void figures_add_count(struct figures *figures, struct figure figure, size_t count, size_t tries)
{
    figure.kind = FIGURE_COUNT;
    figure.tries = tries;
    figure.value = (struct stats_interval){count, count, count};
    append(figures, figure);
}

void figures_add_failure(struct figures *figures, struct figure figure, const char *why)
{
    figure.failure = why;
    append(figures, figure);
}

bool figure_holds(const struct figure *figure)
{
    return !figure->failure && figure->value.high <= figure->goal;
}

void figures_finish(struct figures *figures)
{
    for (size_t i = 0; i < figures->count; i++)
        free(figures->list[i].rounds);
    figures->count = 0;
}
