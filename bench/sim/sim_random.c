/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim_random.h"

#include <math.h>

void sim_random_init(struct sim_random *random, uint64_t seed)
{
    random->state = seed;
}

/* splitmix64 by Sebastiano Vigna (public domain): neighbouring seeds give unrelated numbers. */
static uint64_t next(struct sim_random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

double sim_random_uniform(struct sim_random *random)
{
    return (double)(next(random) >> 11) * 0x1p-53;
}

double sim_random_normal(struct sim_random *random)
{
    const double radius = sqrt(-2 * log(1 - sim_random_uniform(random)));
    return radius * cos(2 * M_PI * sim_random_uniform(random));
}

int64_t sim_random_exponential_ns(struct sim_random *random, int64_t mean_ns)
{
    return (int64_t)(-log(1 - sim_random_uniform(random)) * (double)mean_ns);
}
