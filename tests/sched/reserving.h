/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of reservations share. */
#ifndef RESERVING_H
#define RESERVING_H

#include "suite.h"

#include <stdint.h>
#include <sys/types.h>

enum { TRIES = 1000 }; /* of a moment */

/* 20 ms. */
void pause_a_moment(void);

/* Starts a process that computes all the time, until it is killed or this one ends. Returns its id. */
pid_t begin_to_compute(void);

/* Returns for how long the first thread of a process has run. */
int64_t running_ns(pid_t process);

/* Runs a list that ends in NULL, each test between `begin` and `end`. Skips without the right to reserve. Returns the exit code. */
int run_reserving(const char *name, SFun begin, SFun end, const TTest *const *tests);

#endif
