/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the facts about this machine that are reported with a figure. Uses no library. */
#ifndef HOST_H
#define HOST_H

enum { HOST_TEXT_SIZE = 128 };

struct host {
    char cpu[HOST_TEXT_SIZE];
    char kernel[HOST_TEXT_SIZE];
    char governor[HOST_TEXT_SIZE]; /* "unknown" where there is none, as in virtual machines */
    char clock_source[HOST_TEXT_SIZE];
    int cpu_count;
    int tick_hz; /* from the resolution of the coarse clock, which moves with the tick */
    double load; /* over the last minute */
};

void host_read(struct host *host);

#endif
