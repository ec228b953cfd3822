/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The decision before a picture is decoded: whether to give it up, or its deadline. The functions are pure; times are
 * in ns.
 *
 * Skew is A-V: > 0 means that the video is late. One decode_policy belongs to one thread.
 */
#ifndef PLAYER_POLICY_DECODE_H
#define PLAYER_POLICY_DECODE_H

#include "policy.h"

#include <stdbool.h>
#include <stdint.h>

struct decode_policy {
    struct policy_settings settings;
    int64_t pictures;       /* pictures decided on since the beginning or the last seek */
    int heuristic_requests; /* consecutive drop requests, mplayer's n */
};

/* What is known when a picture is about to be decoded. */
struct decode_view {
    int64_t now_ns;            /* CLOCK_MONOTONIC */
    int64_t skew_ns;           /* A-V of the picture that this decode will let out, if that picture were shown now */
    int64_t frame_duration_ns; /* > 0 */
    bool sound_plays;          /* the skew is against sound, and the sound still plays */
};

struct decode_order {
    bool give_up;        /* refuse a droppable picture at the gate; decode another one, but do not present it */
    int64_t deadline_ns; /* absolute; NO_DEADLINE: none is in force */
};

void decode_policy_init(struct decode_policy *policy, const struct policy_settings *settings);

/* Call at a seek: forgets the past and keeps the settings. The first pictures after the seek are kept again. */
void decode_policy_restart(struct decode_policy *policy);

struct decode_order decode_policy_decide(struct decode_policy *policy, const struct decode_view *view);

/*
 * Returns whether the pictures are still the first ones, which are kept: they are slow because the caches are cold and
 * the sound device is filling.
 */
bool decode_policy_is_starting(const struct decode_policy *policy);

#endif
