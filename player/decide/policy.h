/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the user wants pictures to be given up. Two places decide by it, each with a state of its own: policy_decode.h before
 * a picture is decoded, policy_present.h when its turn to be shown has come. Pure: no clock and no decoder in here.
 */
#ifndef PLAYER_POLICY_H
#define PLAYER_POLICY_H

#include <stdint.h>

#define NO_DEADLINE INT64_MAX

enum drop_policy {
    DROP_NONE,      /* every picture is decoded and presented, however late */
    DROP_HEURISTIC, /* mplayer's: guess before each picture (seed 000, 8.1) */
    DROP_DEADLINE,  /* a deadline for each decode, enforced while it runs (seed 000, 8.2) */
};

enum deadline_rule {
    RULE_PAPER, /* base - gain * skew after the decode began; base 0.925 of the frame's duration, gain 0.01 */
    RULE_SLACK, /* when the picture is due, by the clock that sound sets, plus a tolerance */
};

struct policy_settings {
    enum drop_policy drop;
    enum deadline_rule rule;
    int64_t base_ns; /* paper: the base; slack: the tolerance. < 0: the rule's own */
    double gain;     /* of rule paper. < 0: the seed's */
};

/* How late a picture may be under rule slack, in ns: base_ns, or the rule's own 50 ms. */
int64_t policy_slack_tolerance_ns(const struct policy_settings *settings);

#endif
