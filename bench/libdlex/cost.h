/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures what the constructs cost that do not fire, each against the system calls that it saves.
 */
#ifndef COST_H
#define COST_H

#include "figure.h"

/*
 * Adds the figures of blocks, sections, checkpoints and remaining time. The calling thread must
 * have no open block.
 */
void cost_measure(struct figures *figures, size_t rounds);

#endif
