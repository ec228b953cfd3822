/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLAYER_MEMORY_H
#define PLAYER_MEMORY_H

#include <stdint.h>

/*
 * Returns how much memory in bytes the program can get without swapping: the least of what the kernel reports
 * (MemAvailable) and of what the process's control group has left. INT64_MAX: nothing is known.
 */
int64_t memory_available_bytes(void);

#endif
