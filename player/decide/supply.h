/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much CPU time playing receives while it wants some, learnt while playing. The functions are pure.
 *
 * The rate is the CPU time of decoding (in all its threads) and presenting, divided by the wall time, over the decodes of
 * about the last second. The time between decodes does not count, because nothing was wanted then, unless they waited for the
 * program's quota (allowance.h). One supply belongs to one thread.
 */
#ifndef PLAYER_SUPPLY_H
#define PLAYER_SUPPLY_H

#include <stdint.h>

struct supply {
    double cpu_ns; /* of the past, weighted by an exponential window */
    double wall_ns;
    double rate_max;
};

/* Begins with the rate of one half, for one thread that decodes. */
void supply_init(struct supply *supply);

/* This many threads decode at once. What was learnt is kept. */
void supply_set_threads(struct supply *supply, int decoding);

/* A decode took this wall time, in which playing got this CPU time. */
void supply_learn(struct supply *supply, int64_t wall_ns, int64_t cpu_ns);

/*
 * Returns the CPU time received in each unit of wall time: 0.05 to the number of threads that decode, and one more for
 * presenting. Each may have a CPU.
 */
double supply_rate(const struct supply *supply);

#endif
