/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Facts about the machine and this process that must be published with a measured number. */
#ifndef PLAYER_MACHINE_H
#define PLAYER_MACHINE_H

#include <jansson.h>

/*
 * Returns a new reference to an object: kernel, CPU model and count, governor, clock source, and the scheduling policy,
 * nice value and affinity of the calling thread. A fact that cannot be read is null. Returns NULL when out of memory.
 */
json_t *machine_facts(void);

#endif
