/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Plays a film in virtual time under one of the player's policies. Every decision comes from player/decide, with the views
 * that player/decode/decode_stage.c and look_ahead.c fill in.
 */
#ifndef POLICY_RUN_H
#define POLICY_RUN_H

#include "playing.h"

#include <stdint.h>

/* How well the costs of decodes were predicted before each whole one, from the 30th on. Degraded ones do not count. */
struct prediction {
    int64_t count;
    double relative_error_sum; /* of |predicted - real| / real */
    double real_sum;           /* ns, and their squares */
    double real_square_sum;
    double error_square_sum;   /* of the squares of predicted - real */
};

struct policy_outcome {
    struct playing_tally tally;
    struct prediction prediction;
    int64_t ended_ns;       /* virtual time */
    int64_t wasted_cpu_ns;  /* decodes of droppable pictures that were dropped all the same */
};

/* Returns the mean of |predicted - real| / real, and the part of the variance of costs that was predicted; NAN: no decode. */
double prediction_mape(const struct prediction *prediction);
double prediction_r2(const struct prediction *prediction);

/*
 * Plays the film once. rows: one for each place, filled in by this function as dlex-play would record them (times are
 * virtual); the caller's. rows_begin fills in what is known before playing.
 */
void rows_begin(struct frame_record *rows, const struct sim_film *film);
struct policy_outcome policy_run(const struct playing_setting *setting, struct frame_record *rows);

#endif
