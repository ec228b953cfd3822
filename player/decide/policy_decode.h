/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is decided before a picture is decoded: whether to give it up, or its deadline. Pure, times in ns.
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
    int64_t pictures;       /* decided on since the beginning or the last seek */
    int heuristic_requests; /* consecutive drop requests, mplayer's n */
};

/* What is known when a picture is about to be decoded. */
struct decode_view {
    int64_t now_ns;            /* CLOCK_MONOTONIC */
    int64_t skew_ns;           /* of the picture that is to be presented when this decode ends, if it were presented now */
    int64_t frame_duration_ns; /* > 0 */
    bool sound_plays;          /* the skew is against sound, and the sound goes on */
};

struct decode_order {
    bool give_up;        /* refuse the picture in advance where it is droppable, else do not present it */
    int64_t deadline_ns; /* absolute; NO_DEADLINE: none is in force */
};

void decode_policy_init(struct decode_policy *policy, const struct policy_settings *settings);

/* A seek: forgets what happened before it and keeps the settings. The first pictures after it are kept again. */
void decode_policy_restart(struct decode_policy *policy);

struct decode_order decode_policy_decide(struct decode_policy *policy, const struct decode_view *view);

/* Whether the pictures are still the first ones, which are kept: they pay for cold caches and a sound device that fills. */
bool decode_policy_is_starting(const struct decode_policy *policy);

#endif
