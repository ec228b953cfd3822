/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `dlex-sched period --events=syscalls`: the rate of a program by seed 003's events and its detector. */
#ifndef SCHED_PERIOD_SYSCALLS_H
#define SCHED_PERIOD_SYSCALLS_H

#include "period_files.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What to watch, and how. */
struct syscalls_request {
    pid_t process;
    bool with_family;   /* and the programs that it starts */
    int64_t waits_ns;   /* before the observation begins */
    int64_t lasts_ns;
    bool as_json;
    const struct period_files *files;
};

/* Watches a process, prints what was found, and writes the files. Returns an exit code. */
int period_syscalls(const char *program, const struct syscalls_request *request);

#endif
