/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures how soon a violated constraint gets control, against the kernel's own timers. */
#ifndef RESPONSE_H
#define RESPONSE_H

#include "figure.h"

/* Adds the figures of deadlines and WCETs that pass while the thread computes. */
void response_measure(struct figures *figures, size_t rounds, size_t samples);

/* Adds the count of those of `aborts` WCET violations that came before the time was used up. */
void response_count_early(struct figures *figures, size_t aborts);

#endif
