/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The record of what was observed: run.json, frames.csv (the columns of a player's own record that can be known from
 * outside; dlex-qoe reads it), screen.csv and sound.csv.
 */
#ifndef OBSERVER_OBSERVED_RUN_H
#define OBSERVER_OBSERVED_RUN_H

#include "clip.h"
#include "clip_times.h"
#include "heard_clock.h"
#include "monitor_source.h"
#include "observe_options.h"
#include "screen_watch.h"
#include "sightings.h"

#include <stdint.h>

struct observed_run {
    const struct observe_options *options;
    const struct clip *clip;
    const struct clip_times *times;
    const struct screen_watch *watch;
    const struct monitor_record *sound; /* NULL: the sound was not recorded */
    const char *sched;
    int64_t started_ns;
    int64_t ended_ns;
    double cpu_s;
    /* Set by observed_run_evaluate. */
    struct sightings sightings;
    struct heard_clock clock;
    int64_t first; /* the pictures that were to be played */
    int64_t count;
    int64_t shown; /* of these pictures */
};

/* Evaluates what was observed. Returns 0 or -ENOMEM. observed_run_finish frees what this function allocated. */
int observed_run_evaluate(struct observed_run *run);
void observed_run_finish(struct observed_run *run);

/* Writes all four files, run.json last. Returns 0, or a negative errno; then none of the files is left behind. */
int observed_run_write(const struct observed_run *run);

#endif
