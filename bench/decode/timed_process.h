/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs timed_decode as a child process. */
#ifndef TIMED_PROCESS_H
#define TIMED_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct timed_process {
    pid_t pid;
    FILE *questions;
    FILE *answers;
    size_t packet_count; /* of the clip */
    int64_t cpu_ns;      /* so far */
    int pictures;
};

/*
 * Starts the program on the clip and waits until the program has read the clip. Returns 0 or -1. In
 * both cases timed_process_stop() frees the resources.
 */
int timed_process_start(struct timed_process *process, const char *program, const char *clip);

/*
 * Makes the process decode this many more packets and adds the result to the totals. Returns 0 or
 * -1.
 */
int timed_process_decode(struct timed_process *process, size_t packets);

void timed_process_stop(struct timed_process *process);

#endif
