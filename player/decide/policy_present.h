/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The decision when it is a decoded picture's turn: whether to show it. The functions are pure; times are in ns.
 *
 * Skew is A-V: > 0 means that the video is late. One present_policy belongs to one thread.
 */
#ifndef PLAYER_POLICY_PRESENT_H
#define PLAYER_POLICY_PRESENT_H

#include "frame_duration.h"
#include "policy.h"

#include <stdbool.h>
#include <stdint.h>

struct present_policy {
    struct policy_settings settings;
    int missed_run; /* consecutive pictures that were not presented, for any reason */
    int64_t missing_since_ns; /* when it was the first one's turn; NS_UNKNOWN: there are none */
};

/* What is known when it is a picture's turn. */
struct present_view {
    int64_t now_ns;            /* CLOCK_MONOTONIC */
    int64_t skew_ns;           /* of the picture, if it were presented now */
    struct frame_duration frame_duration;
    bool given_up;             /* the order before its decode was to give it up */
    bool had_to_be_decoded;    /* a reference, or a codec whose pictures cannot be abandoned */
    bool waited;               /* it was decoded ahead, and may have become late since */
    bool is_starting;          /* see decode_policy_is_starting */
};

void present_policy_init(struct present_policy *policy, const struct policy_settings *settings);

/* Call at a seek: forgets the past and keeps the settings. */
void present_policy_restart(struct present_policy *policy);

/*
 * Returns whether to present the picture. Under the rules slack and plan and under policy vlc, a picture that had to be
 * decoded or that waited is late when its skew is above a limit ("hopeless"). The limit grows by 1.5 frames with each
 * picture missed before it (mplayer's allowance: by 1; plan when it is strict: by 0.5). A second after the
 * first missed picture one is presented in any case. A droppable picture that came out whole met its own deadline.
 */
bool present_policy_shows(struct present_policy *policy, const struct present_view *view);

/* Counts a picture that was aborted or skipped, when it is its turn. */
void present_policy_miss(struct present_policy *policy, int64_t now_ns);

#endif
