/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the guard adds to an allocation: two processes, one with it, asked in turns. */
#ifndef GUARD_COST_H
#define GUARD_COST_H

#include "figure.h"

/* Adds the figure of malloc and free with the guard and a block open, against both without. */
void guard_cost_measure(struct figures *figures, size_t rounds);

#endif
