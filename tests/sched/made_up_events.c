/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "made_up_events.h"

#include <math.h>
#include <stdlib.h>

static int compare_times(const void *a, const void *b)
{
    const int64_t left = ((const struct thread_event *)a)->time_ns, right = ((const struct thread_event *)b)->time_ns;
    return (left > right) - (left < right);
}

static void add(struct made_up_events *made_up, double time_s, double cpu_ms)
{
    if (made_up->count < MADE_UP_MAX)
        made_up->events[made_up->count++] = (struct thread_event){
            .time_ns = llround(time_s * 1e9), .cpu_ns = llround(cpu_ms * 1e6),
        };
}

static void sort(struct made_up_events *made_up)
{
    qsort(made_up->events, (size_t)made_up->count, sizeof made_up->events[0], compare_times);
}

void made_up_train(struct made_up_events *made_up, const struct made_up_train *train, double from_s, double until_s,
                   struct sim_random *random)
{
    for (int64_t job = 0; from_s + ((double)job + train->phase) / train->hz < until_s; job++) {
        double time_s = from_s + ((double)job + train->phase) / train->hz;
        if (train->display_hz > 0)
            time_s = ceil(time_s * train->display_hz) / train->display_hz;
        time_s += train->jitter_ms / 1e3 * sim_random_normal(random);
        const double kept = sim_random_uniform(random);
        if (kept >= train->lost && time_s >= from_s && time_s < until_s)
            add(made_up, time_s, train->cpu_ms);
    }
    sort(made_up);
}

void made_up_noise(struct made_up_events *made_up, double hz, double cpu_ms, double until_s, struct sim_random *random)
{
    double time_s = 0;
    for (;;) {
        time_s -= log(1 - sim_random_uniform(random)) / hz;
        if (time_s >= until_s)
            break;
        add(made_up, time_s, cpu_ms);
    }
    sort(made_up);
}
