/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the user wants pictures to be given up. Two modules decide by these settings, each with its own state:
 * policy_decode.h before a picture is decoded, and policy_present.h when it is the picture's turn to be shown. Both are
 * pure: they use no clock and no decoder.
 */
#ifndef PLAYER_POLICY_H
#define PLAYER_POLICY_H

#include "window.h"

#include <stdbool.h>
#include <stdint.h>

#define NO_DEADLINE INT64_MAX

enum drop_policy {
    DROP_NONE,      /* every picture is decoded and presented, however late */
    DROP_HEURISTIC, /* mplayer's method: guess before each picture (seed 000, 8.1) */
    DROP_VLC,       /* VLC's method: refuse a picture that would hardly be ready in time. It needs a queue of pictures */
    DROP_DEADLINE,  /* a deadline for each decode, enforced while it runs (seed 000, 8.2) */
};

enum deadline_rule {
    RULE_PAPER, /* base - gain * skew after the decode began; base 0.925 of the frame's duration, gain 0.01 */
    RULE_SLACK, /* when the picture is due, by the clock that sound sets, plus a tolerance */
    RULE_PLAN,  /* as slack, and pictures are refused in advance so that those ahead are in time, see plan.h */
};

struct policy_settings {
    enum drop_policy drop;
    enum deadline_rule rule;
    int64_t base_ns; /* paper: the base; slack: the tolerance. < 0: the rule's default */
    double gain;     /* for rule paper. < 0: the seed's value */
    bool strict;     /* for rule plan: rather lose pictures than show them late */
    bool never_skips_to_key; /* for rule plan: goes on decoding when skipping to the next key picture would lose less */
    struct window window;    /* for rule plan: at most so many pictures are to be lost. y 0: any number */
    bool degrades; /* for rule plan: when time is short, leaves out the loop filter of some pictures */
};

/* Returns how late a picture may be under the rules slack and plan: base_ns, or the default of 50 ms (strict: 40 ms). */
int64_t policy_slack_tolerance_ns(const struct policy_settings *settings);

#endif
