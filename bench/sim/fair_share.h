/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A machine whose scheduler is fair, beside programs that always compute. It is an ideal fluid: all CPUs together give each
 * thread that can run a part in proportion to its weight, at most one CPU. The kernel gives that part in slices; what is left of
 * that here is how long a thread waits for its first slice after it slept. Pure; times are in ns.
 */
#ifndef FAIR_SHARE_H
#define FAIR_SHARE_H

#include <stdbool.h>
#include <stdint.h>

struct fair_machine {
    int cpus;         /* > 0 */
    int programs;     /* other threads, which always want CPU time, with the weight 1 */
    double weight;    /* of each thread of the player */
    int64_t slice_ns; /* how long the kernel lets a thread run beside others */
    uint64_t seed;    /* of the waiting times */
};

/* Returns the weight of a nice value from -20 to 19, where 1 is that of nice 0. */
double fair_weight(int nice);

/*
 * Returns the part of a CPU that each of so many decoding threads gets. A thread that presents has slept, and works less than its
 * part allows: it has a CPU for itself until it sleeps again.
 */
double fair_part(const struct fair_machine *machine, int decoding, bool presents);

/*
 * Returns how long a thread waits for a CPU after it has slept, while so many threads decode: up to a round of all slices on its
 * CPU, equally distributed. 0 where there are enough CPUs. The same number `what` gives the same wait in each run with this seed.
 */
int64_t fair_wait_ns(const struct fair_machine *machine, int decoding, uint64_t what);

#endif
