/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A film as the simulation plays it: the packets of a decode trace in decode order, and the places of their pictures in
 * presentation order. It does not change while it is played. Times are in ns; PTS count from the first picture.
 */
#ifndef SIM_FILM_H
#define SIM_FILM_H

#include "decode_trace.h"
#include "upcoming.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_film {
    int count;               /* of packets, and of pictures: each packet has one */
    struct upcoming *packets; /* in decode order; due_ns is the PTS */
    int *place_of;           /* the place of a packet's picture in presentation order */
    int *packet_at;          /* the packet of the picture at a place */
    int64_t *cost_ns;        /* CPU time of each packet's decode */
    const struct decode_trace *trace;
    int delay;               /* how many pictures the decoder holds back, to put them in order */
    int64_t frame_duration_ns; /* on average */
};

/*
 * Makes the film of a trace, which must outlive it. Returns 0; -ENOMEM; -EINVAL: the decoder would have to hold back more
 * than SIM_DELAY_MAX pictures; or -ENODATA: the error of a repeat is missing. sim_film_finish frees it, and accepts an empty one.
 */
int sim_film_init(struct sim_film *film, const struct decode_trace *trace);
void sim_film_finish(struct sim_film *film);

enum { SIM_DELAY_MAX = 16 }; /* the most that H.264 allows */

/* Returns the mean cost of a packet. */
double sim_film_mean_cost_ns(const struct sim_film *film);

/* Returns the packet of the last picture before this one, in decode order, to which others refer; < 0: it is a key picture. */
int sim_film_reference(const struct sim_film *film, int packet);

/* Returns the PTS of the picture at a place. */
int64_t sim_film_pts_ns(const struct sim_film *film, int place);

/*
 * Returns the RMSE, in 16-bit units, when the picture at `shown` is still on the screen instead of the one at `place`. Beyond
 * the repeats of the trace, the error grows with the square root of their number: from 10 to 40 repeats that of three clips
 * grew with the power of 0.3 to 0.55. shown < 0: nothing was shown yet, and the screen is black. The trace does not say how
 * much that differs; the result is that of a picture with 0.3 of the full brightness.
 */
double sim_film_rmse_q16(const struct sim_film *film, int place, int shown);

#endif
