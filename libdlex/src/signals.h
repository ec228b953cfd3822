/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* signals.h: the library's signal in the process, and the signal mask that a block remembers. */
#ifndef DLEX_SIGNALS_H
#define DLEX_SIGNALS_H

#include <dlex/signal.h>

#include "thread.h"

/* Installs the handler, unless the process has it, and fixes the number. It is the same one in all calls.
 * Takes no lock. Returns 0 or a negative errno value: -EBUSY when the program handles the signal; the
 * next call tries again. */
int dlex_signal_take(dlex_signal_fn *on_signal);
/* Unblocks the signal in this thread. */
void dlex_signal_admit(void);

/* For block.c, with the guard held, if block->mask_known. restore: the body was aborted, and the mask
 * that the block remembers is in force again. pass: the body ended by itself, and that mask passes to
 * the block outside. */
void dlex_sigmask_restore_(struct dlex_block_ *block);
void dlex_sigmask_pass_(struct dlex_block_ *block);

#endif
