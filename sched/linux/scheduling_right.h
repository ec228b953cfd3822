/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why the kernel refuses this process fixed priorities or reservations: who it is, and whether it runs in a container. */
#ifndef SCHED_SCHEDULING_RIGHT_H
#define SCHED_SCHEDULING_RIGHT_H

#include <stdbool.h>

enum scheduling_lack {
    SCHEDULING_ALLOWED,       /* nothing is missing, as far as this process can find out */
    SCHEDULING_NOT_ROOT,      /* an ordinary user without CAP_SYS_NICE, who can get it by sudo or setcap(8) */
    SCHEDULING_NO_CAPABILITY, /* root without CAP_SYS_NICE, or a user to whom neither gives it, as in a container */
    SCHEDULING_NO_NEW_RIGHTS, /* a user whose programs get no new rights (no_new_privs) */
    SCHEDULING_INSIDE,        /* in a user namespace: the kernel only counts rights outside of it */
};

enum scheduling_lack scheduling_lack(void);

/* True if sudo(8) or a capability on a program's file could give an ordinary user's process this capability. */
bool capability_is_in_reach(int capability);

/* Returns "root" or "this user", for sentences. */
const char *scheduling_who(void);

enum { SCHEDULING_REMEDY_SIZE = 640 };

/*
 * Writes one sentence about a negative errno with which a fixed priority was refused, or could not be tried, with what would
 * help, and returns it. It also looks for a control group (version 1) without CPU time for fixed priorities.
 */
const char *fixed_priority_remedy(int error, char text[SCHEDULING_REMEDY_SIZE]);

#endif
