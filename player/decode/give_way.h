/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lets decoding ahead pause where it would use up the quota that the presenting thread needs (quota_window.h).
 *
 * While a decode runs, a timer's signal looks a thousand times a second whether the kernel has halted the program, and how much of
 * the quota is left. To pause is to sleep in that signal's handler, because a decode cannot be left and continued otherwise. The
 * decode may hold a lock of malloc or of a buffer pool then, and the presenting thread may wait for it: until the quota's next
 * period at most, as if the kernel had halted the program there.
 */
#ifndef PLAYER_GIVE_WAY_H
#define PLAYER_GIVE_WAY_H

#include "cpu_quota.h"
#include "quota_window.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct give_way {
    struct cpu_quota quota;
    _Atomic int64_t next_due_ns; /* see struct quota_presenting; set by the presenting thread */
    _Atomic int64_t frame_duration_ns;
    _Atomic int64_t presenting_ns;
    _Atomic uint32_t changes; /* of these three; the handler sleeps on it */
    /* Decoding thread. */
    struct quota_window window;
    int64_t throttled; /* how often the kernel had halted the program when it was last looked at */
    int64_t seen_ns;   /* when that was … */
    int64_t used_ns;   /* … and the thread's CPU time then */
    bool has_timer;
    timer_t timer;
};

/* Finds out whether a quota limits the program. Without one, nothing below does anything. */
void give_way_open(struct give_way *give_way);

/* Any thread, when no decode is in progress and none will begin. */
void give_way_close(struct give_way *give_way);

/* Presenting thread: what will be presented from now on. */
void give_way_to(struct give_way *give_way, const struct quota_presenting *presenting);

/* Decoding thread: a decode begins and ends. No lock that the presenting thread takes may be held in between. */
void give_way_begin(struct give_way *give_way);
void give_way_end(struct give_way *give_way);

#endif
