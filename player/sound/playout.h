/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A model of a device that plays samples at a constant rate. It says which sample leaves the device
 * now, and which PTS that sample has.
 *
 * The null sink is only this model. The PulseAudio sink corrects the model with the server's
 * reports, so that asking for the time costs no round trip. Time is always an argument: nothing
 * here reads a clock, waits or locks.
 *
 * Samples are counted in frames (one sample of each channel) from 0 at init or flush. The position
 * runs from an anchor at `rate` frames a second, and stops at the last frame that was written:
 *
 *     position(now) = min(written, anchor_frame + (now - anchor_ns) * rate)     while running
 *
 * PTS are kept as segments, one for each jump in the file's time stamps.
 */
#ifndef PLAYER_PLAYOUT_H
#define PLAYER_PLAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * One second of sound with a jump at every 20 ms packet would need 50 segments. When no segment is
 * free, new sound is merged into the newest one: the clock is then off by the jumps, for a second.
 */
enum { PLAYOUT_SEGMENTS = 64 };

struct playout_segment {
    int64_t start_frame;
    int64_t pts_ns;
};

struct playout {
    int rate;
    int64_t written;      /* frames ever appended */
    int64_t anchor_frame; /* the position at anchor_ns */
    int64_t anchor_ns;
    bool running;
    bool heard;          /* last_pts_ns is valid */
    int64_t last_pts_ns; /* playout_heard's last result: the PTS does not run backwards */
    int first_segment;   /* a ring: the segment being heard, followed by the later ones */
    int segment_count;
    struct playout_segment segment[PLAYOUT_SEGMENTS];
};

/* Makes the model empty and standing. Also call this to flush: it forgets the whole past. */
void playout_init(struct playout *playout, int rate);

/*
 * Appends `frames` frames. The first is at pts_ns, or follows on if that is AUDIO_PTS_UNKNOWN.
 */
void playout_append(struct playout *playout, int64_t frames, int64_t pts_ns);

/* Lets the position run from now on, beginning with `frame`. Also corrects a running position. */
void playout_run(struct playout *playout, int64_t frame, int64_t now_ns);

/*
 * The same where it is known only that the position is at least `first` and at most `last`: the position so far, running or standing, is
 * corrected as little as possible.
 */
void playout_run_between(struct playout *playout, int64_t first, int64_t last, int64_t now_ns);

/* Stops the position. */
void playout_hold(struct playout *playout, int64_t now_ns);

int64_t playout_position(const struct playout *playout, int64_t now_ns);

/* Returns how many frames are written and not yet played; 0: starved, or empty. */
int64_t playout_buffered(const struct playout *playout, int64_t now_ns);

/*
 * Like audio_sink_heard: returns 0, or -EAGAIN while nothing has been heard. Drops the segments
 * that have passed.
 */
int playout_heard(struct playout *playout, int64_t now_ns, int64_t *pts_ns);

/*
 * While nothing has been heard and the position runs: sets *pts_ns to the PTS of the first sample, less the time until it is heard.
 * Otherwise returns -EAGAIN.
 */
int playout_begins(struct playout *playout, int64_t now_ns, int64_t *pts_ns);

/* Convert durations at this rate, rounded down. No overflow for any time that a player can run. */
int64_t playout_frames(const struct playout *playout, int64_t ns);
int64_t playout_ns(const struct playout *playout, int64_t frames);

#endif
