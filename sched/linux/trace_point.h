/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's trace points, for perf_event_open(2). */
#ifndef SCHED_TRACE_POINT_H
#define SCHED_TRACE_POINT_H

#include <stdint.h>

/*
 * Returns the number of a trace point such as "sched/sched_waking", or a negative errno: -ENOENT (the kernel has none, or nobody may
 * look), -EACCES (only root may). If tracefs is not mounted, a child of this process mounts it where no other process sees it.
 */
int64_t trace_point_id(const char *event);

#endif
