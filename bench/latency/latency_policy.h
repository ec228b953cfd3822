/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The scheduling policies under which the latency experiment runs (seed 000, section 7.2). */
#ifndef LATENCY_POLICY_H
#define LATENCY_POLICY_H

/*
 * Puts the calling thread under "other", "fifo" (priority 50) or "deadline" (25 ms of every 50 ms).
 * Returns 0, -EINVAL for another name, or the kernel's error: -EPERM without the right to use the
 * policy, -EBUSY when the CPU time is reserved for others.
 */
int latency_policy_enter(const char *name);

#endif
