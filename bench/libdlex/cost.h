/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the constructs cost that do not fire, each beside the system calls that it saves. */
#ifndef COST_H
#define COST_H

#include "figure.h"

/*
 * Adds the figures of blocks, sections, checkpoints and remaining time. Needs a thread without
 * open blocks.
 */
void cost_measure(struct figures *figures, size_t rounds);

#endif
