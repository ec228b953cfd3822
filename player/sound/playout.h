/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A model of a device that plays samples at a constant rate: which sample leaves it now, and which
 * PTS that has.
 *
 * The null sink is this model and nothing else. The PulseAudio sink corrects it by what the server
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
 * One second of sound with a jump at every 20 ms packet would need 50. When they run out the newest
 * is merged with what follows it: the clock is then off by the jumps, for a second.
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
    int64_t last_pts_ns; /* what playout_heard answered last: it does not run backwards */
    int first_segment;   /* a ring: the segment being heard, and those behind it */
    int segment_count;
    struct playout_segment segment[PLAYOUT_SEGMENTS];
};

/* Empty and standing. Also the way to flush: nothing of the past remains. */
void playout_init(struct playout *playout, int rate);

/*
 * `frames` more frames, the first of them at pts_ns, or following on if that is AUDIO_PTS_UNKNOWN.
 */
void playout_append(struct playout *playout, int64_t frames, int64_t pts_ns);

/* From now on the position runs, beginning with `frame`. Also corrects a running one. */
void playout_run(struct playout *playout, int64_t frame, int64_t now_ns);

/* The position stands. */
void playout_hold(struct playout *playout, int64_t now_ns);

int64_t playout_position(const struct playout *playout, int64_t now_ns);

/* Frames written and not yet played; 0: starved, or empty. */
int64_t playout_buffered(const struct playout *playout, int64_t now_ns);

/*
 * As audio_sink_heard: 0, or -EAGAIN while nothing has been heard. Forgets the segments that have
 * passed.
 */
int playout_heard(struct playout *playout, int64_t now_ns, int64_t *pts_ns);

/* Durations at this rate, rounded down; without overflow over any time a player can run. */
int64_t playout_frames(const struct playout *playout, int64_t ns);
int64_t playout_ns(const struct playout *playout, int64_t frames);

#endif
