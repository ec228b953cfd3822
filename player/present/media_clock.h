/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The clock of the file that is being played: sync.h's, set by the sound as long as that plays, and held by a pause.
 *
 * Main thread. It starts anew at each seek, stands until the first picture (or sound) begins it, and reads
 * CLOCK_MONOTONIC by itself.
 */
#ifndef PLAYER_MEDIA_CLOCK_H
#define PLAYER_MEDIA_CLOCK_H

#include "audio_track.h"
#include "packet_queue.h"
#include "sync.h"

#include <stdbool.h>
#include <stdint.h>

struct media_clock {
    struct audio_track *audio;   /* NULL: no sound is played */
    struct packet_queue *queue;  /* NULL: no video is played. While it is full, no sound is read either */
    struct sync sync;
    bool started; /* since the beginning or the last seek */
    bool paused;
    bool jumped;     /* since then the pictures' time stamps jumped under sound that played on */
    bool sound_lost; /* that was said */
};

/* The beginning, or a seek: the clock stands at pts_ns. A pause goes on. */
void media_clock_restart(struct media_clock *clock, int64_t pts_ns, bool untimed);

/* Lets clock and sound run, unless paused. Repeating it is harmless. */
void media_clock_start(struct media_clock *clock);

/* The same with the first picture: without sound the clock begins at its PTS. */
void media_clock_start_with(struct media_clock *clock, int64_t pts_ns);

void media_clock_toggle_pause(struct media_clock *clock);

/* Sets the clock by what is heard now. Says it when the sound is lost. */
void media_clock_observe_sound(struct media_clock *clock);

/* Whether a sound that still plays sets the clock. */
bool media_clock_sound_plays(const struct media_clock *clock);

/*
 * The pictures' time stamps jump by jump_ns (NS_UNKNOWN: against nothing). Sound that plays jumps too and leads the clock;
 * without it the clock is moved, so that the picture is due when the next one would have been.
 */
void media_clock_follow_jump(struct media_clock *clock, int64_t jump_ns);

/* The PTS that is due now. */
int64_t media_clock_now_ns(const struct media_clock *clock);

/* A-V of a picture that would be presented now: > 0 means that the video is late. */
int64_t media_clock_skew_ns(const struct media_clock *clock, int64_t pts_ns);

/* How long until the picture is due; <= 0: it is. The clock follows a jump that the sound did not live to see. */
int64_t media_clock_wait_ns(struct media_clock *clock, int64_t pts_ns);

#endif
