/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the player's policy sees of a simulated player: the views that player/decode/decode_stage.c and look_ahead.c fill in.
 * Used by policy_run.c only.
 */
#ifndef POLICY_VIEW_H
#define POLICY_VIEW_H

#include "drift.h"
#include "pace.h"
#include "playing.h"
#include "policy_decode.h"
#include "policy_run.h"

#include <stdbool.h>
#include <stdint.h>

/* The decode stage. */
struct sim_stage {
    struct playing playing;
    int beside;           /* pictures that are held back because several are decoded at once */
    struct decode_policy policy;
    struct show_pace show;
    int shown_out_end;    /* pictures before this place have been counted in `show` */
    struct drift drift;
    bool passing_over;    /* packets do not go to the decoder until the next key picture */
    int64_t leading_ns;   /* pictures before this PTS lead the key picture behind a skip; INT64_MIN: none */
    int awaits_beyond; /* no picture has come out since the last skip while out_end is not more than this */
    /* For rule plan. */
    struct times to_present; /* PTS of the pictures in the queue and in the decoder that can be presented */
    struct decoder_model decoder;
    struct loss_history past;
    int late_seen;        /* pictures before this place have been looked at: whether they came too late */
    struct outlook outlook;
    int64_t decodes;      /* whole ones */
    int read_end;         /* the packets before this one have been read from the file */
    struct policy_outcome outcome;
};

/* Reads on if too little is ready, as in the player's feeder. Reading takes no time. */
void policy_view_read(struct sim_stage *stage, int packet);

/* Returns what the policy decides about the packet. */
struct decode_order policy_view_decide(struct sim_stage *stage, int packet);

#endif
