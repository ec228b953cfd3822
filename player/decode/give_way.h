/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Gives way to the presenting thread where a control group's quota limits the program.
 *
 * Decoding ahead uses up the quota soon after its period begins, and then the kernel halts the presenting thread as well, until
 * the next period: a picture that waits decoded is shown late, by the same time again and again. So when the decode goes on after
 * such a halt, it waits until the next picture is presented. What is left of the quota it uses after that: none of it is lost.
 *
 * The wait is a signal handler that sleeps, because a decode cannot be left and continued otherwise. It may hold a lock of malloc
 * or of a buffer pool then; so the handler sleeps for 100 ms at most. The kernel's own halts come at such places too.
 */
#ifndef PLAYER_GIVE_WAY_H
#define PLAYER_GIVE_WAY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct give_way {
    bool is_needed;             /* there is a quota; not changed afterwards */
    _Atomic bool is_wanted;     /* enough pictures wait, and the presenting thread is going to present one */
    _Atomic uint32_t presented; /* counts the pictures; the handler sleeps on it */
    /* Decoding thread. */
    bool has_timer;
    timer_t timer;
    int64_t seen_ns; /* when the handler last looked … */
    int64_t used_ns; /* … and the thread's CPU time then */
};

/* quota: the CPU time per time that the program may use; INFINITY: there is no quota, and nothing below does anything. */
void give_way_init(struct give_way *give_way, double quota);

/* Any thread, when no decode is in progress and none will begin. */
void give_way_finish(struct give_way *give_way);

/* Presenting thread: a picture was presented, or there will be none for a while. is_wanted: the next one can wait for nothing. */
void give_way_note_presented(struct give_way *give_way, bool is_wanted);

/* Decoding thread: a decode begins and ends. No lock that the presenting thread takes may be held in between. */
void give_way_begin(struct give_way *give_way);
void give_way_end(struct give_way *give_way);

#endif
