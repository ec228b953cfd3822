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
#include "drift.h"
#include "look_ahead.h"
#include "pace.h"
#include "picture_stamps.h"
#include "policy_decode.h"
#include "stage_clock.h"

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
    int64_t last_pts_ns; /* of the last packet, NS_UNKNOWN: it has none */
    struct picture_stamps stamps;
    struct look_ahead look;
    bool presenting_apart;
    bool passing_over;   /* packets do not go to the decoder until the next key picture */
    struct drift drift;
    bool wants_drain;    /* see stage_wants_drain */
    int64_t leading_ns;  /* pictures before this PTS cannot be decoded: they lead a key picture; INT64_MIN: none */
    int leading_segment;
    bool awaits_picture; /* none has come out since the last skip */
    int drain_errors;
    bool out_of_memory; /* decoding ended early; set by the decode thread, valid after decode_thread_end */
    struct stage_job {
        int64_t number; /* JOB_UNKNOWN: none */
        int segment;
        enum picture_class picture_class;
        int64_t size_bytes;
        bool was_refused; /* its order was to give up its droppable picture, or that was withheld from the decoder */
        bool degraded;
        bool out; /* a picture of it came out */
    } known[STAGE_JOBS];
};

/* The threads and settings around a stage. */
struct stage_surroundings {
    struct packet_queue *packets;   /* where its packets come from */
    struct picture_queue *pictures; /* where its pictures go; NULL: each is presented before the next packet is decoded */
    bool presenting_apart;          /* presenting has CPU time of its own */
};

/* Begins with an open decoder. may_jump: see feed_pace. */
void stage_init(struct decode_stage *stage, const struct clip *clip, struct decoder *decoder,
                const struct policy_settings *settings, bool may_jump);

/* Call once before the first packet. Without it, rule plan knows no packets ahead. */
void stage_connect(struct decode_stage *stage, const struct stage_surroundings *around);

/* Call at the beginning and at each seek: drops everything in flight. See show_pace_restart for first_ns. */
void stage_restart(struct decode_stage *stage, const struct part *part, int64_t first_ns);

/*
 * Decides about a packet and decodes it; the caller keeps owning it. Returns false if the packet cannot be decoded (a
 * seek landed between key frames): there is nothing to note. Otherwise fills in *note, and stage_take gives out the
 * pictures.
 */
bool stage_decode(struct decode_stage *stage, AVPacket *packet, const struct stage_clock *clock, struct job_note *note);

/*
 * Returns whether packets have just begun to be passed over. The pictures before them are still in the decoder: call
 * stage_drain until it returns false, before the next packet.
 */
bool stage_wants_drain(const struct decode_stage *stage);

/*
 * No packet comes for a long time: lets the decoder give out the pictures that it holds back. Call stage_drain until it returns
 * false. Decoding goes on at the next key picture.
 */
void stage_stall(struct decode_stage *stage);

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
