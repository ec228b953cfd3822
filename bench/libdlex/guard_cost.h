/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures what the guard adds to an allocation. It asks two processes in turns, one of them with
 * the guard.
 */
#ifndef GUARD_COST_H
#define GUARD_COST_H

#include "figure.h"

/*
 * Adds the figure of malloc and free with the guard and a block open, against malloc and free
 * without them.
 */
void guard_cost_measure(struct figures *figures, size_t rounds);

#endif
