/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Notices the ends of the table's processes, by pidfds. It has a thread of its own, so that ticks and delays never wait for it. */
#ifndef SCHED_PMAN_DEATHS_H
#define SCHED_PMAN_DEATHS_H

#include "pman_shared.h"

struct pman_deaths;

/* Returns 0, -ENOSYS (older than Linux 5.3), -ENOMEM, -EAGAIN, -EMFILE or -EPERM (priority). */
int pman_deaths_create(struct pman_deaths **deaths, struct pman_shared *shared, int priority);

/* Call it after processes were attached; it costs nothing if none was. Does not block. */
void pman_deaths_look(struct pman_deaths *deaths);

/* Ends the thread and clears *deaths. */
void pman_deaths_destroy(struct pman_deaths **deaths);

#endif
