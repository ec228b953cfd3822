/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The codec threads in virtual time: each decodes one picture, and the pictures leave in the order in which they came. A picture
 * waits for the rows of the last reference before it, if that is still being decoded. Plain data; times are in ns.
 */
#ifndef CODEC_WORK_H
#define CODEC_WORK_H

#include "fair_share.h"

#include <stdbool.h>
#include <stdint.h>

enum { CODEC_WORK_MAX = 16 };

struct codec_job {
    int packet;
    int reference;       /* the packet of the picture for which it waits; < 0: none */
    bool is_droppable;   /* its decode ends at the deadline */
    bool is_refused;     /* it is not decoded; cost_ns is that of the refusal */
    bool is_unwanted;    /* it is decoded, and not to be presented */
    bool is_degraded;    /* for the caller */
    bool is_aborted;     /* its deadline has ended it */
    int64_t cost_ns;     /* CPU time */
    int64_t deadline_ns; /* INT64_MAX: none */
    int64_t start_ns;    /* when its thread had it */
    int64_t done_ns;     /* CPU time it has received */
    int64_t end_ns;      /* when it was decoded or aborted; 0: not yet */
};

struct codec_work {
    struct codec_job jobs[CODEC_WORK_MAX]; /* in decode order */
    int count;
    int64_t received_ns; /* CPU time of all jobs so far */
};

/* How far a reference must be ahead of a picture that refers to it: the part of it that must be done when the other begins. */
struct codec_order {
    double ahead; /* 0 to 1; 1: they never overlap */
};

/* The caller leaves room: count < CODEC_WORK_MAX. */
void codec_work_add(struct codec_work *work, const struct codec_job *job);

/* Returns whether the first job has ended. There must be one. */
bool codec_work_first_ended(const struct codec_work *work);

/* Removes the first job and returns it. */
struct codec_job codec_work_take(struct codec_work *work);

/* Returns how many threads can run now. */
int codec_work_running(const struct codec_work *work, const struct codec_order *order);

/* Returns the CPU time that is still to be done. */
int64_t codec_work_left_ns(const struct codec_work *work);

/* Goes on from *now_ns to until_ns, or to the first time at which a thread can run that could not, or a job ends. Moves *now_ns. */
void codec_work_run(struct codec_work *work, const struct codec_order *order, const struct fair_machine *machine, bool presents,
                    int64_t *now_ns, int64_t until_ns);

#endif
