/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the manager and dlex-sched-pman need beside the services. */
#ifndef SCHED_PMAN_SERVICES_H
#define SCHED_PMAN_SERVICES_H

#include "pman_shared.h"

/* As pman_tick. */
int pman_services_tick(struct pman_shared *shared, int64_t tick_ns);

/*
 * What the manager does between ticks: ends delays and looks at deadlines. Returns how long it can sleep then: until the next of
 * these times, or latest_ns if that is earlier. -ESHUTDOWN.
 */
int64_t pman_services_timer(struct pman_shared *shared, int64_t latest_ns);

/* Buries a process that has ended, if the table still has entries of it. */
void pman_services_bury(struct pman_shared *shared, pid_t pid, uint64_t start);

/* Copies the table as it is now. Returns 0 or -ESHUTDOWN. */
int pman_services_view(struct pman_shared *shared, struct pman_table *copy);

#endif
