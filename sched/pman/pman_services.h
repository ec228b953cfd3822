/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the manager and dlex-sched-pman need beside the services. */
#ifndef SCHED_PMAN_SERVICES_H
#define SCHED_PMAN_SERVICES_H

#include "pman_shared.h"

/* As pman_tick. */
int pman_services_tick(struct pman_shared *shared, int64_t tick_ns);

/* Copies the table as it is now. Returns 0 or -ESHUTDOWN. */
int pman_services_view(struct pman_shared *shared, struct pman_table *copy);

#endif
