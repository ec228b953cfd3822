/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why the kernel refuses this process fixed priorities or reservations: who it is, and whether it runs in a container. */
#ifndef SCHED_SCHEDULING_RIGHT_H
#define SCHED_SCHEDULING_RIGHT_H

enum scheduling_lack {
    SCHEDULING_ALLOWED,       /* nothing is missing, as far as this process can find out */
    SCHEDULING_NOT_ROOT,      /* an ordinary user without CAP_SYS_NICE */
    SCHEDULING_NO_CAPABILITY, /* root without CAP_SYS_NICE, as in a container */
    SCHEDULING_INSIDE,        /* in a user namespace: the kernel only counts rights outside of it */
};

enum scheduling_lack scheduling_lack(void);

enum { SCHEDULING_REMEDY_SIZE = 640 };

/*
 * Writes one sentence about a negative errno with which a fixed priority was refused, or could not be tried, with what would
 * help, and returns it. It also looks for a control group (version 1) without CPU time for fixed priorities.
 */
const char *fixed_priority_remedy(int error, char text[SCHEDULING_REMEDY_SIZE]);

#endif
