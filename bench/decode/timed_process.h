/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A running timed_decode. */
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
 * Starts the program on the clip and waits until it has read it. Returns 0 or -1; either way
 * timed_process_stop() frees what there is.
 */
int timed_process_start(struct timed_process *process, const char *program, const char *clip);

/* Has it decode so many more packets and adds what that took. Returns 0 or -1. */
int timed_process_decode(struct timed_process *process, size_t packets);

void timed_process_stop(struct timed_process *process);

#endif
