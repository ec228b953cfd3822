/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much CPU time the decode of a packet will take, learnt while playing. The functions are pure; times are in ns.
 *
 * In each class of pictures, the cost is a line over the packet's size, fitted by recursive least squares that forget
 * the past. A prediction stays near the class's mean, because the line says little about a size that was not seen yet.
 * One cost_model belongs to one thread.
 */
#ifndef PLAYER_COST_H
#define PLAYER_COST_H

#include "upcoming.h"

#include <stdint.h>

struct cost_line {
    double at_zero_ns;
    double slope_ns;         /* for each COST_SIZE_UNIT bytes */
    double covariance[2][2]; /* of the two above, up to a common factor */
    double mean_ns;          /* of the last 50 or so */
    int64_t count;
};

struct cost_model {
    struct cost_line lines[PICTURE_CLASSES]; /* of whole decodes */
    double degraded_part[PICTURE_CLASSES];   /* of that: what a degraded decode takes */
    int degraded_run[PICTURE_CLASSES];       /* degraded decodes since the last whole one */
    double mean_ns; /* of all classes */
    int64_t count;
};

#define COST_SIZE_UNIT 20000.0

void cost_init(struct cost_model *model);

/* Returns the expected CPU time. As long as nothing is known, that is a fifth of frame_duration_ns. */
double cost_predict_ns(const struct cost_model *model, enum picture_class picture_class, int64_t size_bytes,
                       int64_t frame_duration_ns);

/* Returns the expected CPU time of a degraded decode (one without the loop filter), as a part of that of a whole one: at most 1. */
double cost_degraded_part(const struct cost_model *model, enum picture_class picture_class);

/* A whole decode took this CPU time. */
void cost_learn(struct cost_model *model, enum picture_class picture_class, int64_t size_bytes, int64_t cpu_ns);

/* A decode was abandoned after this CPU time: all of it would have taken longer. */
void cost_learn_at_least(struct cost_model *model, enum picture_class picture_class, int64_t size_bytes, int64_t cpu_ns,
                         int64_t frame_duration_ns);

/*
 * A degraded decode took this CPU time. While whole decodes are not far back, it is compared with what these took. It always
 * moves the expectation of a whole one, so that this stays right while all pictures are degraded.
 */
void cost_learn_degraded(struct cost_model *model, enum picture_class picture_class, int64_t size_bytes, int64_t cpu_ns,
                         int64_t frame_duration_ns);

#endif
