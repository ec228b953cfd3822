/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A short list of times in ascending order. Times are in ns. */
#ifndef PLAYER_TIMES_H
#define PLAYER_TIMES_H

#include <stdint.h>

enum { TIMES_MAX = 1280 };

struct times {
    int64_t at_ns[TIMES_MAX];
    int count;
};

/* Inserts a time. If the list is full, its earliest one is forgotten. */
void times_insert(struct times *times, int64_t at_ns);

/* Removes one of the times with this value, if there is one. */
void times_remove(struct times *times, int64_t at_ns);

/* Removes and returns the earliest time. The list must not be empty. */
int64_t times_take_first(struct times *times);

#endif
