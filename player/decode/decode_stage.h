/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The station between the packets and the presenter: decides about each packet, decodes it, and says of each picture
 * that comes out what the presenter must know. It knows no presenter and no sound: the caller gives it the clock.
 *
 * One thread uses it at a time.
 */
#ifndef PLAYER_DECODE_STAGE_H
#define PLAYER_DECODE_STAGE_H

#include "clip.h"
#include "decode_job.h"
#include "decoder.h"
#include "pace.h"
#include "policy_decode.h"
#include "sync.h"

#include <stdbool.h>
#include <stdint.h>

/* The stage finds the packets of this many last jobs by number. It is far more than any decoder holds back. */
enum { STAGE_JOBS = 256 };

struct decode_stage {
    const struct clip *clip; /* only its facts are read */
    struct decoder *decoder; /* NULL: no video is played. The stage owns it */
    struct decode_policy policy;
    struct feed_pace feed;
    struct show_pace show;
    int64_t jobs; /* packets decoded so far */
    int drain_errors;
    struct {
        int64_t number; /* JOB_UNKNOWN: none */
        int segment;
        bool out; /* a picture of it came out */
    } known[STAGE_JOBS];
};

/* The clock, as the stage's decisions need it. */
struct stage_clock {
    struct sync sync;
    bool sound_plays; /* and sets the clock */
    int64_t presenting_ns; /* what presenting a picture takes, on average */
};

/* Begins with an open decoder. may_jump: see feed_pace. */
void stage_init(struct decode_stage *stage, const struct clip *clip, struct decoder *decoder,
                const struct policy_settings *settings, bool may_jump);

/* Call at the beginning and at each seek: drops everything in flight. See show_pace_restart for first_ns. */
void stage_restart(struct decode_stage *stage, const struct part *part, int64_t first_ns);

/*
 * Decides about a packet and decodes it; the caller keeps owning it. Returns false if the packet cannot be decoded (a
 * seek landed between key frames): there is nothing to note. Otherwise fills in *note, and stage_take gives out the
 * pictures.
 */
bool stage_decode(struct decode_stage *stage, AVPacket *packet, const struct stage_clock *clock, struct job_note *note);

/*
 * Makes the decoder give out pictures that it holds back, for stage_take. Returns false when there are none left, or after
 * many errors.
 */
bool stage_drain(struct decode_stage *stage);

/*
 * Moves the next picture that came out into *picture, whose frame must be blank. Returns false if there is none left.
 * Pictures that are not taken before the next packet are lost.
 */
bool stage_take(struct decode_stage *stage, struct decoded_picture *picture);

/* Closes the decoder. Accepts a stage without one. */
void stage_finish(struct decode_stage *stage);

#endif
