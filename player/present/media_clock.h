/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The clock of the file that is being played. It is the clock of sync.h. The sound sets it as long as sound plays, and
 * a pause stops it.
 *
 * Main thread. It restarts at each seek, stands until the first picture (or sound) starts it, and reads CLOCK_MONOTONIC
 * by itself.
 */
#ifndef PLAYER_MEDIA_CLOCK_H
#define PLAYER_MEDIA_CLOCK_H

#include "audio_track.h"
#include "packet_queue.h"
#include "picture_queue.h"
#include "sync.h"

#include <stdbool.h>
#include <stdint.h>

struct media_clock {
    struct audio_track *audio;   /* NULL: no sound is played */
    struct picture_queue *pictures; /* NULL: nothing is decoded ahead. It passes the clock on to the decode thread */
    struct packet_queue *queue;  /* NULL: no video is played. While it is full, the feeder reads no sound either */
    struct packet_queue *sound_queue; /* NULL: no sound is played */
    struct read_ahead *ahead;    /* NULL: no file is read */
    struct sync sync;
    int segment;  /* of the last picture; set by the presenter */
    bool started; /* since the beginning or the last seek */
    bool paused;
    int64_t paused_since_ns;
    int64_t paused_ns; /* all pauses that have ended */
    bool jumped;     /* since then the pictures' time stamps jumped forward while sound played on */
    struct {
        bool on; /* the sound is so far from the clock that its time stamps are not those of the pictures */
        int64_t since_ns; /* or the last picture that was near the clock nonetheless */
        int64_t heard_ns; /* what was heard … */
        int64_t at_ns;    /* … at this time */
    } apart;
    int64_t observed_ns;   /* when the clock was last observed or started */
    int64_t presenting_ns; /* see stage_clock.h; these four are set by the presenter */
    int64_t presenting_cpu_ns;
    int64_t presenting_all_cpu_ns;
    struct late_pictures late;
    struct cpu_limits limits; /* see media_clock_set_limits */
    bool sound_lost;  /* the loss of the sound was logged */
    bool sink_played; /* the sink has played something, perhaps before the last seek */
    struct {
        bool on; /* the clock waits for a sink that answers late */
        int64_t since_ns;
        bool noted; /* and that was logged */
    } waiting;
};

/* Call at the beginning and at each seek: the clock stands at pts_ns. A pause goes on. */
void media_clock_restart(struct media_clock *clock, int64_t pts_ns, bool untimed);

/* Starts clock and sound, unless paused. Repeating it is harmless. */
void media_clock_start(struct media_clock *clock);

/* Starts clock and sound with the first picture. Without sound the clock begins at the picture's PTS. */
void media_clock_start_with(struct media_clock *clock, int64_t pts_ns);

void media_clock_toggle_pause(struct media_clock *clock);

/* Returns how long the clock has been paused so far, over all seeks. */
int64_t media_clock_paused_ns(const struct media_clock *clock);

/*
 * Sets the clock by what is heard now. While the sink does not play what it has, the clock stands, and so no picture is shown in
 * silence; a sink that has never played is given up after 10 s. Where the sound's time stamps have jumped and the pictures' have
 * not, the clock runs on with the pictures. Logs it when the sound is lost. Call it often: where pictures are decoded ahead and
 * no sound plays, it takes a second without a call for a stop of the whole program, and the clock has not run meanwhile.
 */
void media_clock_observe_sound(struct media_clock *clock);

/* The clock has not run for this time, unless sound plays or nothing is decoded ahead. */
void media_clock_forget(struct media_clock *clock, int64_t time_ns);

/* The program may use so much CPU time from now on. The decode stage learns it with the clock. */
void media_clock_set_limits(struct media_clock *clock, const struct cpu_limits *limits);

/* Returns the clock as decisions before a decode need it. */
struct stage_clock media_clock_for_decoding(const struct media_clock *clock);

/* Returns whether sound still plays and sets the clock. */
bool media_clock_sound_plays(const struct media_clock *clock);

/*
 * Follows a jump of the pictures' time stamps to pts_ns, by jump_ns (NS_UNKNOWN: the size is not known), unless the clock is
 * there already: the picture is due when the next one would have been. Forward, sound that plays jumps too, or there is a hole
 * in the pictures: the clock waits for the sound.
 */
void media_clock_follow_jump(struct media_clock *clock, int64_t pts_ns, int64_t jump_ns);

/* Returns the PTS that is due now. */
int64_t media_clock_now_ns(const struct media_clock *clock);

/* Returns A-V of a picture that would be presented now: > 0 means that the video is late. */
int64_t media_clock_skew_ns(const struct media_clock *clock, int64_t pts_ns);

/*
 * Returns how long until the picture is due; <= 0: it is due. This makes the clock follow a jump: of the sound, if the picture
 * is near what is heard; of the picture, if the sound ended before.
 */
int64_t media_clock_wait_ns(struct media_clock *clock, int64_t pts_ns);

#endif
