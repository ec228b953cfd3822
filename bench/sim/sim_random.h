/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random numbers that are the same for the same seed. */
#ifndef SIM_RANDOM_H
#define SIM_RANDOM_H

#include <stdint.h>

struct sim_random {
    uint64_t state;
};

void sim_random_init(struct sim_random *random, uint64_t seed);

/* Returns a number from 0 up to, but not including, 1. */
double sim_random_uniform(struct sim_random *random);

/* Returns a number of the normal distribution with mean 0 and standard deviation 1. */
double sim_random_normal(struct sim_random *random);

/* Returns a time, in ns, of the exponential distribution with this mean. */
int64_t sim_random_exponential_ns(struct sim_random *random, int64_t mean_ns);

#endif
