/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waiting for a word of shared memory (futex(2)). */
#ifndef SCHED_FUTEX_H
#define SCHED_FUTEX_H

#include <stdint.h>

/*
 * Waits until the word is not `seen`, somebody wakes it, or until_ns of CLOCK_MONOTONIC (INT64_MAX: no limit). It may also return
 * for no reason, so look at the word again. Returns 0, or -EINTR if a signal handler ran.
 */
int futex_wait(const uint32_t *word, uint32_t seen, int64_t until_ns);

/* Wakes all who wait for the word. */
void futex_wake(const uint32_t *word);

#endif
