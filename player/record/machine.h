/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Facts about the machine and this process that a figure needs beside it. */
#ifndef PLAYER_MACHINE_H
#define PLAYER_MACHINE_H

#include <jansson.h>

/*
 * A new reference to an object: kernel, CPU model and count, governor, clock source, scheduling policy, nice value and
 * affinity of the calling thread. What cannot be read is null. NULL when out of memory.
 */
json_t *machine_facts(void);

#endif
