/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events of threads that do not exist: trains with jitter, losses and displays, and random events. */
#ifndef MADE_UP_EVENTS_H
#define MADE_UP_EVENTS_H

#include "period.h"
#include "sim_random.h"

#include <stdint.h>

enum { MADE_UP_MAX = 8192 };

/* Begins as zero. The events are in ascending order after each call of this file. */
struct made_up_events {
    struct thread_event events[MADE_UP_MAX];
    int64_t count;
};

struct made_up_train {
    double hz;
    double phase;       /* of the first job, in periods: 0 to 1 */
    double jitter_ms;   /* standard deviation of normal jitter; it does not add up */
    double lost;        /* part of the jobs that are missing */
    double display_hz;  /* each job waits for the next refresh of such a display; 0: it does not wait */
    double cpu_ms;      /* of each job */
};

/* Adds the jobs of a train between from_s and until_s; phases count from from_s on. */
void made_up_train(struct made_up_events *made_up, const struct made_up_train *train, double from_s, double until_s,
                   struct sim_random *random);

/* Adds random events (a Poisson process) of this mean rate between 0 and until_s. */
void made_up_noise(struct made_up_events *made_up, double hz, double cpu_ms, double until_s, struct sim_random *random);

#endif
