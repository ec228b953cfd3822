/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The media clock: which presentation time is due now.
 *
 * While sound plays, the sound is the clock: the caller reports which sample is being heard. Between two observations,
 * before the first sample and after the last one, the clock runs on with CLOCK_MONOTONIC. The functions are pure and
 * read no clock: `now` is always CLOCK_MONOTONIC in ns, and media times are PTS in ns of the stream. Main thread only.
 */
#ifndef PLAYER_SYNC_H
#define PLAYER_SYNC_H

#include <stdbool.h>
#include <stdint.h>

struct sync {
    int64_t base_pts_ns; /* this PTS was due … */
    int64_t base_ns;     /* … at this time */
    bool running;
    bool untimed; /* the player does not wait: the skew and the wait of every picture are 0 */
};

/* Makes a clock that is stopped at pts_ns. */
void sync_init(struct sync *sync, int64_t pts_ns, bool untimed);

/* Start the clock, or stop and hold it. Repeating either is harmless. */
void sync_start(struct sync *sync, int64_t now_ns);
void sync_stop(struct sync *sync, int64_t now_ns);

/* Sets the clock: the sample with heard_pts_ns leaves the speaker now. */
void sync_observe(struct sync *sync, int64_t heard_pts_ns, int64_t now_ns);

/* Returns the PTS that is due now. */
int64_t sync_media_ns(const struct sync *sync, int64_t now_ns);

/* Returns A-V of a picture that would be presented now: > 0 means that the video is late. */
int64_t sync_skew_ns(const struct sync *sync, int64_t pts_ns, int64_t now_ns);

/* Returns how long until the picture is due; <= 0: it is due. */
int64_t sync_wait_ns(const struct sync *sync, int64_t pts_ns, int64_t now_ns);

#endif
