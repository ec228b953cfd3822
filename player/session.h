/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file that is being played. This module opens its parts, connects them, and closes them. playback.c runs the session.
 * Main thread.
 */
#ifndef PLAYER_SESSION_H
#define PLAYER_SESSION_H

#include "audio_track.h"
#include "clip.h"
#include "decode_stage.h"
#include "decode_thread.h"
#include "feeder.h"
#include "frame_log.h"
#include "limits_history.h"
#include "limits_watch.h"
#include "media_clock.h"
#include "packet_queue.h"
#include "picture_cost.h"
#include "picture_queue.h"
#include "placement.h"
#include "playback_setup.h"
#include "presenter.h"
#include "sound_start.h"
#include "sound_thread.h"
#include "steering.h"

struct session {
    const struct playback_setup *setup;
    /* Source. */
    struct clip clip;
    struct feeder feeder;
    struct read_ahead *ahead;
    struct packet_queue *queue;       /* NULL: no video is played */
    struct packet_queue *sound_queue; /* NULL: no sound is played */
    /* Decoding. */
    int threads_max; /* how many threads may decode at once; the codec may have fewer */
    struct decode_stage stage;
    struct picture_queue *pictures; /* NULL: nothing is decoded ahead, see serial_loop.h */
    struct decoded_picture picture; /* the one that is being presented in the serial loop */
    /* Presenting. */
    struct audio_track *audio; /* NULL: no sound is played */
    struct sound_thread sound_thread;
    struct media_clock clock;
    struct steering steering;
    struct presenter presenter;
    struct limits_watch *limits_watch; /* NULL: no video is played, or limits of CPU time are not known. See session_limits.h */
    /* Of the thread with a priority by the film's rate, see session_cost.h. */
    struct picture_cost cost;
    int64_t cost_from_ns; /* its CPU time after the picture before */
    /* The record. */
    struct frame_log *log;
    struct limits_history limits;
    struct placement_facts placement;
    int64_t started_ns;
    struct sound_start sound_start;
    bool no_device; /* the requested screen, sound or queue cannot be had; other files are not tried */
};

/* Opens the file and everything it needs. Returns 0, or a negative code after logging why (see no_device). */
int session_open(struct session *session, const struct playback_setup *setup);

/*
 * Call when there was nothing to show for a while, where pictures are played: handles the user's requests, and starts the sound without a
 * picture if it is time (sound_start.h).
 */
void session_starve(struct session *session);

/* Sends the decode thread to sleep if it works for this session. */
void session_stop_decoding(struct session *session);

void session_close(struct session *session);

#endif
