/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The open parts of a file that is being played: see playback.h. Opened and closed by session.c, moved by playback.c. */
#ifndef PLAYER_SESSION_H
#define PLAYER_SESSION_H

#include "audio_track.h"
#include "clip.h"
#include "decoder.h"
#include "feeder.h"
#include "frame_log.h"
#include "packet_queue.h"
#include "playback.h"
#include "placement.h"
#include "policy.h"
#include "run_record.h"
#include "sync.h"

/* No picture lasts so much longer than its duration, no clock is so wrong: the time stamps have jumped. */
#define TIME_STAMP_JUMP_NS INT64_C(10000000000)

struct session {
    const struct playback_setup *setup;
    struct clip clip;
    struct decoder *decoder;    /* NULL: no video is played */
    struct audio_track *audio;  /* NULL: no sound is played */
    struct packet_queue *queue; /* NULL: no video is played */
    struct frame_log *log;
    struct feeder feeder;
    struct policy policy;
    struct sync sync;

    int64_t frame_duration_ns;
    int64_t first_pts_ns; /* of a first picture that has no time stamp: where reading began */
    int64_t from_ns;     /* pictures before it are pre-roll of a seek */
    int64_t end_ns;      /* pictures from there on are not played; INT64_MAX: no such limit */
    int64_t next_pts_ns; /* of the picture that is to be presented next, as far as known; FIELD_EMPTY: unknown */
    int segment;         /* of the packets that go to the decoder now: a seek or a jump of the time stamps begins one */
    int clock_segment;   /* of the pictures that come out now; its time stamps are the clock's */
    int64_t fed_ns;      /* time stamp at which the next packet is expected; FIELD_EMPTY: unknown */
    bool jumped;         /* since the last seek the time stamps jumped under sound that played on */
    bool key_fed;        /* since the last seek a key frame was handed to the decoder */
    bool started;        /* since the beginning or the last seek: the clock runs */
    bool pictured;       /* since then: a picture was presented, or none is to come. Only now a pause holds */
    bool paused;

    struct frame_row spare_row; /* stands in where the log has no room */
    struct totals totals; /* so far, for the status line */
    struct placement_facts placement;
    int64_t last_skew_ns;
    int64_t started_ns;
    bool no_device; /* the screen or the sound that was asked for could not be opened, for this or any other file */
};

/* Opens the file and everything it needs. Returns 0, or a negative code after logging why (see no_device). */
int session_open(struct session *session, const struct playback_setup *setup);

/* Whether the input can go to another place (a pipe and a bare stream without time stamps cannot). Any time. */
bool session_can_seek(const struct session *session);

/* Whether a sound that still plays sets the clock. */
bool session_sound_plays(const struct session *session);

/* Whether a picture is over before the part that is to be played begins. duration_ns 0: unknown. */
bool session_is_before_start(const struct session *session, int64_t pts_ns, int64_t duration_ns);

/*
 * Goes to a place in the file (ns from its first time stamp) and starts the feeder there; the feeder is stopped meanwhile.
 * An input that cannot seek is read up to the first place. Where a later seek fails, playing goes on where it was, and
 * that is said. Returns 0, or a negative code: nothing can be played from here.
 */
int session_start_at(struct session *session, int64_t position_ns);

/*
 * Playing has ended: writes the record if one is wanted. The main thread leaves the policy and CPU of --sched and --cpu
 * first, because the file is read once more for its checksum. Returns 0, or a negative code after logging why.
 */
int session_write_record(struct session *session, const char *ended);

void session_close(struct session *session);

#endif
