/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether /proc shows the processes of this PID namespace. In a new one with the /proc of another, each id there is a stranger's. */
#ifndef SCHED_OWN_PROC_H
#define SCHED_OWN_PROC_H

#include <stdbool.h>

/* Returns whether it does. */
bool own_proc_is_shown(void);

/* What to do if it does not: a sentence without a full stop. */
extern const char own_proc_remedy[];

/* Returns true if it does. Otherwise returns false after a message to standard error. */
bool own_proc_check(const char *program);

#endif
