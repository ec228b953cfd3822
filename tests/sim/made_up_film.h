/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A short film for tests, without a clip. */
#ifndef MADE_UP_FILM_H
#define MADE_UP_FILM_H

#include "playing.h"
#include "sim_film.h"

#define MS INT64_C(1000000)

/* Pictures last 40 ms. */
#define FRAME_NS (40 * MS)

struct made_up_film {
    struct decode_trace trace;
    struct sim_film film;
};

/*
 * types: the packets in decode order; I is a key picture, P a reference, b a droppable picture that is presented before the
 * packet before it. All decodes cost cost_ns, all packets have 1000 bytes, and repeating a picture k times has the RMSE
 * 100 * k. Ends the test if memory runs out. made_up_film_finish frees it.
 */
void made_up_film_init(struct made_up_film *made, const char *types, int64_t cost_ns);
void made_up_film_finish(struct made_up_film *made);

/*
 * Returns the types of a film of groups of pictures, each with a key picture and so many pairs of a reference and a droppable
 * picture. Valid until the next call. At most 511 pictures.
 */
const char *made_up_groups(int count, int pairs);

/* The same without droppable pictures: each group has a key picture and so many references. */
const char *made_up_references(int count, int references);

/*
 * Returns a setting for the film: policy none, no queue, drawing costs 2 ms and flipping 1 ms, refusing 0.1 ms, passing over
 * nothing; a head start of one picture; drawn 20 ms ahead where there is a queue.
 */
struct playing_setting made_up_setting(const struct made_up_film *made, const struct cpu_supply *supply);

#endif
