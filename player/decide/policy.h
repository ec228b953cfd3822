/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which pictures to give up, and when: pure decisions, no clock and no decoder in here.
 *
 * Everything is in ns. Skew is A-V: > 0 means that the video is late. One policy belongs to one thread.
 */
#ifndef PLAYER_POLICY_H
#define PLAYER_POLICY_H

#include <stdbool.h>
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

struct policy {
    struct policy_settings settings;
    int64_t pictures;       /* decided on so far */
    int heuristic_requests; /* consecutive drop requests, mplayer's n */
    int missed_run;         /* consecutive pictures that were not presented, for whatever reason */
};

/* What is known when a picture is about to be decoded. */
struct policy_view {
    int64_t now_ns;            /* CLOCK_MONOTONIC */
    int64_t skew_ns;           /* of the picture that is to be presented when this decode ends, if it were presented now */
    int64_t frame_duration_ns; /* > 0 */
    bool sound_plays;          /* the skew is against sound, and the sound goes on */
};

struct policy_order {
    bool give_up;        /* refuse the picture in advance where it is droppable, else do not present it */
    int64_t deadline_ns; /* absolute; NO_DEADLINE: none is in force */
};

void policy_init(struct policy *policy, const struct policy_settings *settings);

/* A seek: forgets what happened before it and keeps the settings. The first pictures after it are kept again. */
void policy_restart(struct policy *policy);

struct policy_order policy_before_decode(struct policy *policy, const struct policy_view *view);

/*
 * Whether a decoded picture is presented, when its turn has come. Under rule slack a picture that had to be decoded
 * (protected_: a reference, or a codec without a gate) is late when its skew is hopeless. What counts as hopeless grows
 * with each picture missed before it, as mplayer's allowance does, and after a second without a picture the next one is
 * presented in any case. A droppable picture that came out whole was in time by its own deadline.
 */
bool policy_presents(struct policy *policy, const struct policy_order *order, int64_t skew_ns,
                     int64_t frame_duration_ns, bool protected_);

/* A picture was aborted or skipped when its turn came. */
void policy_note_abandoned(struct policy *policy);

#endif
