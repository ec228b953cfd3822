/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What rule plan has learnt from the decodes so far. The functions are pure; times are in ns. */
#ifndef PLAYER_LEARNT_H
#define PLAYER_LEARNT_H

#include "cost.h"
#include "supply.h"

#include <stdbool.h>
#include <stdint.h>

enum decode_end {
    DECODE_WHOLE,
    DECODE_ABANDONED, /* the deadline ended it */
    DECODE_REFUSED,   /* it did not begin */
    DECODE_UNKNOWN,   /* part of a picture that another packet began */
};

/* A decode that has ended. */
struct decode_use {
    enum picture_class picture_class;
    int64_t size_bytes;
    enum decode_end end;
    int64_t cpu_ns;        /* of the decode */
    int64_t wall_ns;       /* from its beginning to its end */
    int64_t presenting_ns; /* CPU time of presenting in this time, if it comes out of the same supply */
    bool overlapped;       /* other decodes ran at the same time: these times say nothing about the supply */
    int64_t saved_ns;      /* wall time before the decode in which it had to wait for the program's quota, see allowance.h */
    bool degraded;         /* it left out the loop filter */
};

struct learnt {
    struct cost_model costs;
    struct supply supply;
    double refusing_ns;     /* CPU time of a packet whose picture is refused */
    int64_t presenting_ns;  /* CPU time of presenting a picture out of the same supply; 0: it has its own */
    int64_t droppable_refused; /* droppable pictures that were refused since one was tried */
};

void learnt_init(struct learnt *learnt);

void learnt_add(struct learnt *learnt, const struct decode_use *use, int64_t frame_duration_ns);

/* Decodes that overlap received this CPU time together, with that of presenting if it comes out of the same supply. */
void learnt_add_supply(struct learnt *learnt, int64_t wall_ns, int64_t cpu_ns);

/* Returns the wall time that this CPU time takes. */
double learnt_wall_ns(const struct learnt *learnt, double cpu_ns);

/*
 * Returns how much longer the decode itself takes, where so many others run at the same time and share what playing gets. They are
 * taken to cost as much.
 */
double learnt_beside_ns(const struct learnt *learnt, int beside, double cpu_ns);

#endif
