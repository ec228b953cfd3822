/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keeps decoding ahead within its allowance (allowance.h) where a control group's quota limits the program: no decode begins
 * without some left, and one that takes longer is halted until the next picture is presented.
 *
 * The halt is a signal handler that sleeps, because a decode cannot be left and continued otherwise. The decode may hold a lock of
 * malloc or of a buffer pool then, so the handler sleeps for 100 ms at most at a time: without it, the kernel would halt the thread
 * at such places as well.
 *
 * One thread decodes, and one presents.
 */
#ifndef PLAYER_CPU_SHARE_H
#define PLAYER_CPU_SHARE_H

#include "allowance.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct cpu_share {
    struct allowance allowance;  /* presenting thread */
    _Atomic int64_t until_ns;    /* decoding may go on until the program has used this CPU time; INT64_MAX: it is free */
    _Atomic uint32_t turn;       /* counts the changes of until_ns; the handler sleeps on it */
    bool is_limited;             /* there is a quota; not changed afterwards */
    bool has_timer;              /* decoding thread: it was made */
    timer_t timer;
};

/* quota: CPU time per time; INFINITY: there is none, and nothing below does anything. */
void cpu_share_init(struct cpu_share *share, double quota);

/* Decoding thread: the last call, if cpu_share_begin was called. */
void cpu_share_finish(struct cpu_share *share);

/* Presenting thread: a picture is about to be presented, which takes presenting_ns of CPU time. */
void cpu_share_renew(struct cpu_share *share, int64_t presenting_ns);

/* Presenting thread: decoding is free until cpu_share_renew is called again. Ends a halt. Returns whether it was not free. */
bool cpu_share_release(struct cpu_share *share);

/* Returns whether the next decode must wait. */
bool cpu_share_is_spent(struct cpu_share *share);

/* Decoding thread: a decode begins and ends. No lock that the presenting thread takes may be held in between. */
void cpu_share_begin(struct cpu_share *share);
void cpu_share_end(struct cpu_share *share);

#endif
