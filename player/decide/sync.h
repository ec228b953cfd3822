/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The media clock: which presentation time is due now.
 *
 * While sound plays, the sound is the clock: the caller observes which sample is being heard. In between, before the
 * first sample and after the last one the clock runs on with CLOCK_MONOTONIC. Pure: no call in here reads a clock; `now`
 * is always CLOCK_MONOTONIC in ns, media times are PTS in ns of the stream. Used by the main thread only.
 */
#ifndef PLAYER_SYNC_H
#define PLAYER_SYNC_H

#include <stdbool.h>
#include <stdint.h>

struct sync {
    int64_t base_pts_ns; /* was due … */
    int64_t base_ns;     /* … at this time */
    bool running;
    bool untimed; /* nothing is waited for: every picture is due one frame after its decode begins */
};

/* A stopped clock at pts_ns. */
void sync_init(struct sync *sync, int64_t pts_ns, bool untimed);

/* Starts, or stops and holds. Repeating either is harmless. */
void sync_start(struct sync *sync, int64_t now_ns);
void sync_stop(struct sync *sync, int64_t now_ns);

/* The sample with heard_pts_ns leaves the speaker now. */
void sync_observe(struct sync *sync, int64_t heard_pts_ns, int64_t now_ns);

int64_t sync_media_ns(const struct sync *sync, int64_t now_ns);

/* A-V of a picture that would be presented now: > 0 means that the video is late. */
int64_t sync_skew_ns(const struct sync *sync, int64_t pts_ns, int64_t now_ns);

/* How long until the picture is due; <= 0: it is. */
int64_t sync_wait_ns(const struct sync *sync, int64_t pts_ns, int64_t now_ns);

#endif
