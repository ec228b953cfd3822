/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Draws spectra of events as one picture (SVG), one below the other: the modulus of the sum of the events' phasors as a part of their
 * number, from 10 to 200 Hz, as in seed 003's Figure 7. A peak of 1 means that all events have the same phase.
 *
 *     spectrum_plot_begin(file, 2);
 *     spectrum_plot_panel(file, 0, &panel, &spectrum);
 *     spectrum_plot_panel(file, 1, &other, &spectrum);
 *     spectrum_plot_end(file);
 */
#ifndef SCHED_SPECTRUM_PLOT_H
#define SCHED_SPECTRUM_PLOT_H

#include "spectrum.h"

#include <stdint.h>
#include <stdio.h>

struct spectrum_panel {
    const char *title;       /* printable */
    const int64_t *times_ns;
    int64_t count;           /* at least 1 */
    double hz;               /* a rate to mark; 0: none */
};

/* Writes the beginning of a picture with this many panels. Errors stay in the file (ferror(3)). */
void spectrum_plot_begin(FILE *file, int panels);

/* Draws the panel with this number, from 0 on. `spectrum` is working memory. */
void spectrum_plot_panel(FILE *file, int number, const struct spectrum_panel *panel, struct spectrum *spectrum);

void spectrum_plot_end(FILE *file);

#endif
