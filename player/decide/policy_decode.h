/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The decision before a picture is decoded: whether to give it up, or its deadline. The functions are pure; times are
 * in ns.
 *
 * Skew is A-V: > 0 means that the video is late. One decode_policy belongs to one thread.
 */
#ifndef PLAYER_POLICY_DECODE_H
#define PLAYER_POLICY_DECODE_H

#include "frame_duration.h"
#include "learnt.h"
#include "outlook.h"
#include "policy.h"

#include <stdbool.h>
#include <stdint.h>

struct decode_policy {
    struct policy_settings settings;
    int64_t pictures;       /* pictures decided on since the beginning or the last seek */
    int heuristic_requests; /* consecutive drop requests, mplayer's n */
    int64_t droppable_ns;   /* what the decode of a droppable picture takes, on average; 0: not known yet */
    struct learnt learnt;       /* for rule plan */
    bool skips_to_key;          /* rule plan passes packets over until the next key picture */
    bool degrades_to_key;       /* rule plan degrades all pictures until the next key picture */
};

/* What is known when a picture is about to be decoded. */
struct decode_view {
    int64_t now_ns;            /* CLOCK_MONOTONIC */
    int64_t skew_ns;           /* A-V of the picture that this decode will let out, if that picture were shown now */
    struct frame_duration frame_duration;
    bool sound_plays;          /* the skew is against sound, and the sound still plays */
    int64_t until_due_ns;      /* until the packet's own picture is due; < 0: it is late */
    int64_t presenting_ns;     /* what presenting a picture takes, on average */
    int64_t presenting_cpu_ns; /* the CPU time of that, if it comes out of the decoder's supply; else 0 */
    bool may_skip;             /* to the next key picture: a picture has come out since the last skip */
    bool can_degrade;          /* the decoder can leave out the loop filter */
    const struct outlook *outlook; /* for rule plan; NULL: the packets ahead are not known */
};

struct decode_order {
    bool give_up;        /* refuse a droppable picture at the gate; decode another one, but do not present it */
    bool refuse;         /* refuse a droppable picture at the gate; decode and present another one */
    bool degrade;        /* decode without the loop filter */
    bool pass_over;      /* do not give the packet to the decoder: the next picture that it decodes is a key picture */
    int64_t deadline_ns; /* absolute; NO_DEADLINE: none is in force */
};

void decode_policy_init(struct decode_policy *policy, const struct policy_settings *settings);

/*
 * Call at a seek: forgets the past and keeps the settings, and what pictures cost. The first pictures after the seek are
 * kept again.
 */
void decode_policy_restart(struct decode_policy *policy);

struct decode_order decode_policy_decide(struct decode_policy *policy, const struct decode_view *view);

/* Decoding has begun again at a key picture. */
void decode_policy_end_skip(struct decode_policy *policy);

/* Call once, after decode_policy_init: this many threads decode at once. */
void decode_policy_set_threads(struct decode_policy *policy, int decoding);

/* A decode has ended. */
void decode_policy_learn(struct decode_policy *policy, const struct decode_use *use,
                         struct frame_duration frame_duration);

/* See learnt_add_supply. */
void decode_policy_learn_supply(struct decode_policy *policy, int64_t wall_ns, int64_t cpu_ns);

/*
 * Returns whether the pictures are still the first ones, which are kept: they are slow because the caches are cold and
 * the sound device is filling.
 */
bool decode_policy_is_starting(const struct decode_policy *policy);

#endif
