/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fair_share.h"

#include "sim_random.h"

#include <math.h>

double fair_weight(int nice)
{
    return pow(1.25, -nice); /* the kernel's table differs from this by at most 3 % */
}

double fair_part(const struct fair_machine *machine, int decoding, bool presents)
{
    const double cpus = machine->cpus - (presents ? 1 : 0);
    const double weights = decoding * machine->weight + machine->programs;
    return decoding ? fmin(1, cpus * machine->weight / weights) : 0;
}

int64_t fair_wait_ns(const struct fair_machine *machine, int decoding, uint64_t what)
{
    const int others = machine->programs + decoding;
    if (others < machine->cpus)
        return 0;
    struct sim_random random;
    sim_random_init(&random, machine->seed * UINT64_C(0x9e3779b97f4a7c15) + what);
    sim_random_uniform(&random);
    return (int64_t)(sim_random_uniform(&random) * (double)machine->slice_ns * others / machine->cpus);
}
